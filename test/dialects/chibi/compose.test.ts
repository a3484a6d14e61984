import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { titled } from '../../cite.ts';
import { ask, questionAt, sayComposed, scene } from './asking.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly at: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly says: readonly (string | RuntimeError)[];
  readonly means: string;
}

const spawn = new RuntimeError('PROCESS_START', 'gone');
const spawnText = (point: string, tool: string) => `"Failed to spawn hook ${point} on ${tool}_tool: gone"`;
const fuel = { fuel_remaining: 30, fuel_total: 40 };
const shell = { tool_name: 'sh', command: 'ls' };

const rows: readonly Row[] = [
  {
    title: 'the last prompt wins',
    cites: 'CH-7-03@oneshot',
    at: 'pre_message',
    says: ['{"prompt": "1"}', '{"prompt": "2"}', '{}'],
    means: 'b: modify "" {"prompt":"2"}',
  },
  {
    title: 'injects in front come last first',
    cites: 'CH-7-05@oneshot',
    at: 'pre_system_prompt',
    says: ['{"inject": "1"}', '{"inject": ""}', '{"inject": "3"}'],
    means: 'c: modify "" {"inject":["3","1"]}',
  },
  {
    title: 'injects behind stay in order',
    cites: 'CH-7-06@oneshot',
    at: 'post_system_prompt',
    says: ['{"inject": "1"}', '{"inject": "2"}'],
    means: 'b: modify "" {"inject":["1","2"]}',
  },
  {
    title: 'the first block decides, behind arguments too',
    cites: 'CH-7-07@oneshot CH-4-04@oneshot',
    at: 'pre_tool',
    says: ['{"arguments": {"a": 1}}', '{"block": true, "message": "b"}', '{"block": true, "message": "c"}'],
    means: 'b: deny "b"',
  },
  {
    title: 'arguments are not merged',
    cites: 'CH-7-07@oneshot',
    at: 'pre_tool',
    says: ['{"arguments": {"a": 1}}', '{"arguments": {"b": 2}}'],
    means: 'b: modify "" {"args":{"b": 2}}',
  },
  {
    title: 'the last output wins',
    cites: 'CH-7-09@oneshot',
    at: 'pre_tool_output',
    says: ['{"output": "1"}', '{"output": "2"}'],
    means: 'b: modify "" {"content":"2"}',
  },
  {
    title: 'includes intersect and excludes add up',
    cites: 'CH-7-11@oneshot',
    at: 'pre_api_tools',
    says: [
      '{"include": ["a", "b"], "exclude": ["x"]}',
      '{"include": ["b", "c"], "exclude": ["x", "y"]}',
      '{}',
    ],
    means: 'b: modify "" {"tools":{"include":["b"],"exclude":["x","y"]}}',
  },
  {
    title: 'an empty include leaves none',
    cites: 'CH-7-11@oneshot',
    at: 'pre_api_tools',
    says: ['{"include": []}', '{"include": ["a"]}'],
    means: 'b: modify "" {"tools":{"include":[]}}',
  },
  {
    title: 'bodies merge by key',
    cites: 'CH-7-12@oneshot',
    at: 'pre_api_request',
    says: ['{"request_body": {"model": "a", "x": {"y": 1}}}', '{"request_body": {"x": {"z": 2}}}'],
    means: 'b: modify "" {"request_body":{"model":"a","x":{"z": 2}}}',
  },
  {
    title: 'fuel is counted hook by hook',
    cites: 'CH-7-13@oneshot',
    at: 'pre_agentic_loop',
    payload: fuel,
    says: ['{"fuel_delta": -50}', '{"fuel_delta": 5, "fallback": "call_agent"}', '{"fallback": "call_user"}'],
    means: 'c: modify "" {"fallback":"call_user","fuel_delta":-25}',
  },
  {
    title: 'fuel that nobody changes is left out',
    cites: 'CH-7-13@oneshot',
    at: 'pre_agentic_loop',
    payload: fuel,
    says: ['{"fallback": "call_agent"}'],
    means: 'a: modify "" {"fallback":"call_agent"}',
  },
  {
    title: 'fuel is set before it changes',
    cites: 'CH-7-13@oneshot',
    at: 'pre_agentic_loop',
    payload: fuel,
    says: ['{"fuel_delta": -3, "fuel": 10}', '{"fuel_delta": 1}'],
    means: 'b: modify "" {"fuel":8}',
  },
  {
    title: 'a later level is the level',
    cites: 'CH-7-13@oneshot',
    at: 'pre_agentic_loop',
    payload: fuel,
    says: ['{"fuel": 10}', '{"fuel": 12}'],
    means: 'b: modify "" {"fuel":12}',
  },
  {
    title: 'differences that cancel each other out are a change of nothing',
    cites: 'CH-7-13@oneshot',
    at: 'pre_agentic_loop',
    payload: fuel,
    says: ['{"fuel_delta": -3}', '{}', '{"fuel_delta": 3}'],
    means: 'c: modify "" {"fuel_delta":0}',
  },
  {
    title: 'the smallest delta leaves nothing',
    cites: 'CH-7-14@oneshot',
    at: 'post_tool_batch',
    payload: fuel,
    says: ['{"fuel_delta": -9223372036854775808}'],
    means: 'a: modify "" {"fuel_delta":-30}',
  },
  {
    title: 'fuel is counted in 64 bits',
    cites: 'CH-7-14@oneshot',
    at: 'post_tool_batch',
    payload: fuel,
    says: ['{"fuel": 18446744073709551615, "fuel_delta": 9223372036854775807}'],
    means: 'a: modify "" {"fuel":18446744073709551615}',
  },
  {
    title: 'fuel means nothing where there is no limit',
    cites: 'CH-7-14@oneshot CH-7-36@oneshot',
    at: 'post_tool_batch',
    says: ['{"fuel_delta": -50}', '{"fuel": 5}'],
    means: '-: allow ""',
  },
  {
    title: 'a fallback counts beside fuel that means nothing',
    cites: 'CH-7-36@oneshot',
    at: 'post_tool_batch',
    says: ['{"fuel_delta": -50}', '{"fallback": "call_agent"}'],
    means: 'b: modify "" {"fallback":"call_agent"}',
  },
  {
    title: 'any deny wins, with the first reason',
    cites: 'CH-6-01@oneshot CH-7-15@oneshot',
    at: 'pre_file_read',
    says: ['{}', '{"denied": true, "reason": "b"}', '{"denied": true, "reason": "c"}'],
    means: 'b: deny "b"',
  },
  {
    title: 'what nobody denied is asked',
    cites: 'CH-6-02@oneshot CH-6-15@oneshot',
    at: 'pre_shell_exec',
    payload: shell,
    says: ['{}', '{"approved": true}'],
    means: 'a: ask "sh: ls"',
  },
  {
    title: 'what a crashed plugin did not deny is asked',
    cites: 'CH-6-02@oneshot',
    at: 'pre_shell_exec',
    payload: shell,
    says: [''],
    means: 'a: ask "sh: ls" {"failed_open":{"hook":"a","cause":"chibi.empty"}}',
  },
  {
    title: 'a sensitive url is told',
    cites: 'CH-6-15@oneshot',
    at: 'pre_fetch_url',
    payload: { tool_name: 'get', url: 'http://[::1]/', reason: 'loopback address', safety: 'sensitive' },
    says: ['{}'],
    means: 'a: ask "get: http://[::1]/ (loopback address)"',
  },
  {
    title: 'without plugins nothing is asked',
    cites: 'CH-6-02@oneshot',
    at: 'pre_shell_exec',
    payload: shell,
    says: [],
    means: '-: allow ""',
  },
  {
    title: 'a hang ends the turn at a permission point',
    cites: 'CH-5-01@oneshot',
    at: 'pre_shell_exec',
    payload: shell,
    says: ['{}', spawn, '{"denied": true}'],
    means: `b: abort ${spawnText('pre_shell_exec', 'b')} turn`,
  },
  {
    title: 'an earlier block is lost when a later hook cannot be run',
    cites: 'CH-5-04@oneshot',
    at: 'pre_tool',
    says: ['{"block": true}', spawn],
    means: `b: abort ${spawnText('pre_tool', 'b')} turn`,
  },
  {
    title: 'an earlier delivery is lost too',
    cites: 'CH-5-04@oneshot',
    at: 'pre_send_message',
    says: ['{"delivered": true}', spawn],
    means: `b: abort ${spawnText('pre_send_message', 'b')} turn`,
  },
  {
    title: 'at pre_spawn_agent it denies',
    cites: 'CH-5-02@oneshot CH-5-04@oneshot',
    at: 'pre_spawn_agent',
    says: ['{"response": "r"}', spawn],
    means: `b: deny ${spawnText('pre_spawn_agent', 'b')}`,
  },
  {
    title: 'the first response wins',
    cites: 'CH-7-19@oneshot',
    at: 'pre_spawn_agent',
    says: ['{}', '{"response": "r"}', '{"block": true}'],
    means: 'b: respond "" {"response":"r"}',
  },
  {
    title: 'the first block of a sub-agent wins',
    cites: 'CH-7-19@oneshot',
    at: 'pre_spawn_agent',
    says: ['{"block": true, "message": "a"}', '{"response": "r"}'],
    means: 'a: deny "a"',
  },
  {
    title: 'any block keeps output out of the cache',
    cites: 'CH-7-21@oneshot',
    at: 'pre_cache_output',
    says: ['{"block": true}', '{"summary": "s"}'],
    means: 'b: modify "" {"cache":false}',
  },
  {
    title: 'the last summary wins',
    cites: 'CH-7-21@oneshot',
    at: 'pre_cache_output',
    says: ['{"summary": "1"}', '{"summary": "2"}'],
    means: 'b: modify "" {"summary":"2"}',
  },
  {
    title: 'the first delivery wins',
    cites: 'CH-7-23@oneshot',
    at: 'pre_send_message',
    says: ['{}', '{"delivered": true}', '{"delivered": true, "via": "c"}'],
    means: 'b: respond "" {"delivered":true,"via":"b_tool"}',
  },
];

test('a sub-agent that could not be guarded is denied with the fault [CH-5-02@oneshot]', () => {
  const { answer } = ask(questionAt('pre_spawn_agent'), [spawn]);
  expect(answer).toMatchObject({
    verdict: 'deny',
    error: { code: 'PROCESS_START' },
    metadata: new Json('{}'),
  });
});

test.each(titled(rows))('$title', ({ at, payload, says, means }) => {
  expect(sayComposed(ask(questionAt(at, payload, scene), says))).toBe(means);
});

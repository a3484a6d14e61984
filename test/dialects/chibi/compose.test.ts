import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
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
  ...rowsOf<Row>`
  title | cites | at | says | payload | means
  the last prompt wins | CH-7-03@oneshot | pre_message | ${['{"prompt": "1"}', '{"prompt": "2"}', '{}']} |  | b: modify "" {"prompt":"2"}
  injects in front come last first | CH-7-05@oneshot | pre_system_prompt | ${['{"inject": "1"}', '{"inject": ""}', '{"inject": "3"}']} |  | c: modify "" {"inject":["3","1"]}
  injects behind stay in order | CH-7-06@oneshot | post_system_prompt | ${['{"inject": "1"}', '{"inject": "2"}']} |  | b: modify "" {"inject":["1","2"]}
  arguments are not merged | CH-7-07@oneshot | pre_tool | ${['{"arguments": {"a": 1}}', '{"arguments": {"b": 2}}']} |  | b: modify "" {"args":{"b": 2}}
  the last output wins | CH-7-09@oneshot | pre_tool_output | ${['{"output": "1"}', '{"output": "2"}']} |  | b: modify "" {"content":"2"}
  an empty include leaves none | CH-7-11@oneshot | pre_api_tools | ${['{"include": []}', '{"include": ["a"]}']} |  | b: modify "" {"tools":{"include":[]}}
  fuel that nobody changes is left out | CH-7-13@oneshot | pre_agentic_loop | ${['{"fallback": "call_agent"}']} | ${fuel} | a: modify "" {"fallback":"call_agent"}
  fuel is set before it changes | CH-7-13@oneshot | pre_agentic_loop | ${['{"fuel_delta": -3, "fuel": 10}', '{"fuel_delta": 1}']} | ${fuel} | b: modify "" {"fuel":8}
  a later level is the level | CH-7-13@oneshot | pre_agentic_loop | ${['{"fuel": 10}', '{"fuel": 12}']} | ${fuel} | b: modify "" {"fuel":12}
  the smallest delta leaves nothing | CH-7-14@oneshot | post_tool_batch | ${['{"fuel_delta": -9223372036854775808}']} | ${fuel} | a: modify "" {"fuel_delta":-30}
  fuel means nothing where there is no limit | CH-7-14@oneshot CH-7-36@oneshot | post_tool_batch | ${['{"fuel_delta": -50}', '{"fuel": 5}']} |  | -: allow ""
  what nobody denied is asked | CH-6-02@oneshot CH-6-15@oneshot | pre_shell_exec | ${['{}', '{"approved": true}']} | ${shell} | a: ask "sh: ls"
  what a crashed plugin did not deny is asked | CH-6-02@oneshot | pre_shell_exec | ${['']} | ${shell} | a: ask "sh: ls" {"failed_open":{"hook":"a","cause":"chibi.empty"}}
  without plugins nothing is asked | CH-6-02@oneshot | pre_shell_exec | ${[]} | ${shell} | -: allow ""
  an earlier block is lost when a later hook cannot be run | CH-5-04@oneshot | pre_tool | ${['{"block": true}', spawn]} |  | b: abort ${spawnText('pre_tool', 'b')} turn
  an earlier delivery is lost too | CH-5-04@oneshot | pre_send_message | ${['{"delivered": true}', spawn]} |  | b: abort ${spawnText('pre_send_message', 'b')} turn
  at pre_spawn_agent it denies | CH-5-02@oneshot CH-5-04@oneshot | pre_spawn_agent | ${['{"response": "r"}', spawn]} |  | b: deny ${spawnText('pre_spawn_agent', 'b')}
  the first response wins | CH-7-19@oneshot | pre_spawn_agent | ${['{}', '{"response": "r"}', '{"block": true}']} |  | b: respond "" {"response":"r"}
  the first block of a sub-agent wins | CH-7-19@oneshot | pre_spawn_agent | ${['{"block": true, "message": "a"}', '{"response": "r"}']} |  | a: deny "a"
  any block keeps output out of the cache | CH-7-21@oneshot | pre_cache_output | ${['{"block": true}', '{"summary": "s"}']} |  | b: modify "" {"cache":false}
  the last summary wins | CH-7-21@oneshot | pre_cache_output | ${['{"summary": "1"}', '{"summary": "2"}']} |  | b: modify "" {"summary":"2"}
`,
  {
    title: 'the first block decides, behind arguments too',
    cites: 'CH-7-07@oneshot CH-4-04@oneshot',
    at: 'pre_tool',
    says: ['{"arguments": {"a": 1}}', '{"block": true, "message": "b"}', '{"block": true, "message": "c"}'],
    means: 'b: deny "b"',
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
    title: 'differences that cancel each other out are a change of nothing',
    cites: 'CH-7-13@oneshot',
    at: 'pre_agentic_loop',
    payload: fuel,
    says: ['{"fuel_delta": -3}', '{}', '{"fuel_delta": 3}'],
    means: 'c: modify "" {"fuel_delta":0}',
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
    title: 'a sensitive url is told',
    cites: 'CH-6-15@oneshot',
    at: 'pre_fetch_url',
    payload: { tool_name: 'get', url: 'http://[::1]/', reason: 'loopback address', safety: 'sensitive' },
    says: ['{}'],
    means: 'a: ask "get: http://[::1]/ (loopback address)"',
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

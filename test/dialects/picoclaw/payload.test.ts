import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import type { HookEvent } from '../../../src/contract/hook.ts';
import { picoclaw } from '../../../src/dialects/picoclaw/dialect.ts';
import { titled } from '../../cite.ts';
import { ask, given, scene, seatOf } from './seat.ts';

const big = '{"n":12345678901234567890}';
const call = { id: 'c1', name: 'echo', args: new Json(big) };
const request = { name: 'echo', args: new Json('{"a":1}'), call_id: 'c1' };
const failedResponse = { name: 'echo', call_id: 'c1', content: 'boom', error: 'boom', latency_ms: 15 };
const prompt = {
  provider_id: 'main',
  model: 'm',
  system_prompt: 'Be kind.',
  round: 3,
  metadata: {},
  options: { temperature: 0.7 },
  tools: [{ name: 'echo', description: 'says it', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: '', reasoning: 'hm', tool_calls: [call] },
    { role: 'tool', content: 'out', tool_result: { id: 'c1', name: 'echo' } },
  ],
} as const;

const metaOf = (path: string, round = 1) =>
  `{"AgentID":"main","TurnID":"main-turn-1","ParentTurnID":"","SessionKey":"sk","Iteration":${round},"TracePath":"${path}","Source":"runTurn"}`;
const context = '"context":{"inbound":{"channel":"cli","chat_id":"sk","sender_id":""}}';
const where = '"channel":"cli","chat_id":"sk"';
const toolCall = `{"id":"c1","type":"function","function":{"name":"echo","arguments":${JSON.stringify(big)}}}`;
const messages = `[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"},{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[${toolCall}]},{"role":"tool","content":"out","tool_call_id":"c1"}]`;
const tools =
  '[{"type":"function","function":{"name":"echo","description":"says it","parameters":{"type":"object"}}}]';
const text = `"finish_reason":"tool_calls","reasoning":"","reasoning_details":null`;
const ended = '"media":[],"artifact_tags":[],"response_handled":false';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly event: HookEvent;
  readonly method: string;
  readonly timeoutMs: number;
  readonly doc: string;
  readonly head: string;
}

const rows: readonly Row[] = [
  {
    title: 'before_llm',
    cites: 'PC-7-01 PC-7-05 PC-7-06 PC-7-07 PC-7-08 PC-7-09 PC-1-02 PC-1-03 PC-5-01 PC-6-01 PC-4-08',
    event: { hook: 'provider', phase: 'before_call', request: prompt },
    method: 'hook.before_llm',
    timeoutMs: 12,
    doc: `{"meta":${metaOf('turn.llm.request', 3)},${context},"model":"m","messages":${messages},"tools":${tools},"options":{"temperature":0.7},${where},"graceful_terminal":false}`,
    head: `{"meta":${metaOf('turn.llm.request', 3)},${context},"model":"m","messages":${messages},"tools":${tools},"options":{"temperature":0.7}}`,
  },
  {
    title: 'before_llm of nothing',
    cites: 'PC-1-02 PC-1-03',
    event: {
      hook: 'provider',
      phase: 'before_call',
      request: { ...prompt, system_prompt: '', messages: [], tools: [], options: {} },
    },
    method: 'hook.before_llm',
    timeoutMs: 12,
    doc: `{"meta":${metaOf('turn.llm.request', 3)},${context},"model":"m","messages":[],"tools":[],"options":{},${where},"graceful_terminal":false}`,
    head: `{"meta":${metaOf('turn.llm.request', 3)},${context},"model":"m"}`,
  },
  {
    title: 'after_llm',
    cites: 'PC-7-02 PC-7-05 PC-7-08 PC-7-10 PC-6-01',
    event: {
      hook: 'provider',
      phase: 'after_call',
      request: prompt,
      response: { provider_id: 'main', model: 'm', message: prompt.messages[1], round: 3, latency_ms: 1 },
    },
    method: 'hook.after_llm',
    timeoutMs: 12,
    doc: `{"meta":${metaOf('turn.llm.response', 3)},${context},"model":"m","response":{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[${toolCall}],${text}},${where}}`,
    head: `{"meta":${metaOf('turn.llm.response', 3)},${context},"model":"m","response":{"content":"","reasoning_content":"hm","tool_calls":[${toolCall}],${text}}}`,
  },
  {
    title: 'before_tool',
    cites: 'PC-7-03 PC-7-05 PC-6-01',
    event: { hook: 'tool', phase: 'before_execution', request: { ...request, args: new Json('{\n"a":1}') } },
    method: 'hook.before_tool',
    timeoutMs: 12,
    doc: `{"meta":${metaOf('turn.tool.before')},${context},"tool":"echo","arguments":{ "a":1},${where}}`,
    head: `{"meta":${metaOf('turn.tool.before')},${context},"tool":"echo","arguments":{ "a":1}}`,
  },
  {
    title: 'approve_tool',
    cites: 'PC-7-03 PC-7-05 PC-5-01 PC-6-01',
    event: { hook: 'tool', phase: 'approval', request: { ...request, args: {} }, asked: null },
    method: 'hook.approve_tool',
    timeoutMs: 13,
    doc: `{"meta":${metaOf('turn.tool.approve')},${context},"tool":"echo","arguments":{},${where}}`,
    head: `{"meta":${metaOf('turn.tool.approve')},${context},"tool":"echo"}`,
  },
  {
    title: 'after_tool',
    cites: 'PC-7-04 PC-7-05 PC-7-11 PC-6-01',
    event: { hook: 'tool', phase: 'after_execution', request, response: failedResponse },
    method: 'hook.after_tool',
    timeoutMs: 12,
    doc: `{"meta":${metaOf('turn.tool.after')},${context},"tool":"echo","arguments":{"a":1},${where},"result":{"for_llm":"boom","for_user":"","silent":false,"is_error":true,"async":false,${ended}},"duration":15000000}`,
    head: `{"meta":${metaOf('turn.tool.after')},${context},"tool":"echo","arguments":{"a":1},"result":{"for_llm":"boom","silent":false,"is_error":true,"async":false},"duration":15000000}`,
  },
];

test.each(titled(rows))('$title', ({ event, method, timeoutMs, doc, head }) => {
  const [point = ''] = picoclaw.pointsAt(event);
  const payload = picoclaw.describe(point, event, scene);
  const said = (['0.2.8-doc', 'head'] as const).map((version) =>
    picoclaw.encode(seatOf({ version }), { point, payload, hookContext: scene }),
  );
  expect(said).toEqual([
    { method, body: doc, timeoutMs },
    { method, body: head, timeoutMs },
  ]);
});

test('the host names a message’s sender [PC-7-06]', () => {
  const host = { channel: 'slack', chat_id: 'c', sender_id: 's', mentioned: true, secret: 1 };
  const payload = picoclaw.complete('before_tool', { tool: 'echo' }, { ...scene, host });
  expect(payload).toMatchObject({
    context: { inbound: { channel: 'slack', chat_id: 'c', sender_id: 's', mentioned: true } },
    channel: 'slack',
    chat_id: 'c',
  });
  expect(JSON.stringify(payload)).not.toContain('secret');
});

test('a host’s payload is completed [PC-7-12]', () => {
  const params = (point: string) => picoclaw.encode(seatOf(), ask(point)).body;
  expect(params('after_tool')).toBe(
    `{"meta":${metaOf('turn.tool.after')},${context},${where},"arguments":{},"duration":0,"tool":"echo","result":{"for_user":"","silent":false,"is_error":false,"async":false,${ended},"for_llm":"out"}}`,
  );
  expect(Object.keys(ask('before_llm').payload)).toEqual([
    'meta',
    'context',
    'channel',
    'chat_id',
    'model',
    'tools',
    'options',
    'graceful_terminal',
    'messages',
  ]);
});

const wrong = [
  { point: 'before_llm', payload: {}, names: 'messages' },
  { point: 'before_llm', payload: { messages: [{ role: 'x', content: '' }] }, names: 'messages' },
  { point: 'before_llm', payload: { ...given['before_llm'], tools: {} }, names: 'tools' },
  { point: 'after_llm', payload: { response: {} }, names: 'response' },
  { point: 'before_tool', payload: {}, names: 'tool' },
  { point: 'before_tool', payload: { tool: 1 }, names: 'tool' },
  { point: 'approve_tool', payload: { tool: 'a', arguments: [] }, names: 'arguments' },
  { point: 'approve_tool', payload: { tool: 'a', argumets: {} }, names: 'argumets' },
  { point: 'after_tool', payload: { tool: 'a', result: 'x' }, names: 'result' },
  { point: 'after_tool', payload: { tool: 'a', result: { for_llm: '' }, duration: 0.5 }, names: 'duration' },
  { point: 'before_tool', payload: { tool: 'a', meta: 1 }, names: 'meta' },
  { point: 'event', payload: { Kind: 99 }, names: 'Kind' },
  { point: 'event', payload: { KindName: 'turn_start', Payload: 1 }, names: 'Payload' },
  { point: 'runtime_event', payload: { kind: 'agent.unknown' }, names: 'kind' },
  { point: 'pre_tool', payload: {}, names: 'pre_tool' },
];

test.each(wrong)(
  'a payload of $point with a wrong $names is refused [PC-7-12]',
  ({ point, payload, names }) => {
    const complete = () => picoclaw.complete(point, payload, scene);
    expect(complete).toThrow(RuntimeError);
    expect(complete).toThrow(names);
    expect(complete).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('docs/reference/dialects.md') }),
    );
  },
);

test('a pair is called when one of its methods is named, approvers only by their own name [PC-2-05]', () => {
  const asked = (intercept: Parameters<typeof seatOf>[0]) =>
    Object.keys(given).filter((point) => picoclaw.selects(seatOf(intercept), ask(point)));
  expect(asked({ intercept: ['after_llm'] })).toEqual(['before_llm', 'after_llm']);
  expect(asked({ intercept: ['before_tool'] })).toEqual(['before_tool', 'after_tool']);
  expect(asked({ intercept: ['approve_tool'] })).toEqual(['approve_tool']);
  expect(asked({ intercept: [] })).toEqual([]);
});

import { expect, test } from 'vitest';
import { Json, stringifyJson } from '../../../src/base/json/json.ts';
import type { HookEvent } from '../../../src/contract/hook.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import type { Turn } from '../../../src/contract/turn.ts';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import { describeBody, toNeutralRequest } from '../../../src/dialects/chibi/request.ts';
import { titled } from '../../cite.ts';
import { ask, printed, questionAt, readAt, say, scene } from './asking.ts';

const image = { type: 'image', media: { url: 'u' } };
const messages: readonly ChatMessage[] = [
  { role: 'user', content: 'see', parts: [{ type: 'text', text: 'see' }, image] },
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'c1', name: 'sum', args: new Json('{"n": 12345678901234567890}') }],
    reasoning: 'hm',
  },
  { role: 'tool', content: 'secret', tool_result: { id: 'c1', name: 'sum', error: 'secret', latency_ms: 3 } },
];
const turn: Turn = {
  prompt: 'see',
  system_prompt: 'be kind',
  messages,
  tools: [{ name: 'sum', description: 'adds', input_schema: { type: 'object' }, category: 'memory' }],
  provider_id: 'main',
  model: 'm1',
  options: { max_tokens: 10 },
};
const unlimited = { ...scene, fuel: null };
const system: HookEvent = { hook: 'turn', phase: 'system_prompt', turn };
const loop: HookEvent = { hook: 'turn', phase: 'loop', turn };

const rows = [
  {
    title: 'prompts',
    cites: 'CH-7-03@oneshot',
    event: { hook: 'turn', phase: 'prompt', turn } as const,
    point: 'pre_message',
    says: ['{"prompt": "x"}'],
    means: 'modify "" {"prompt":"x"}',
  },
  {
    title: 'injects in front',
    cites: 'CH-7-05@oneshot',
    event: system,
    point: 'pre_system_prompt',
    says: ['{"inject": "1"}', '{"inject": "2"}'],
    means: 'modify "" {"system_prompt":"2\\n\\n1\\n\\nbe kind"}',
  },
  {
    title: 'injects behind',
    cites: 'CH-7-06@oneshot',
    event: system,
    point: 'post_system_prompt',
    says: ['{"inject": "1"}', '{"inject": "2"}'],
    means: 'modify "" {"system_prompt":"be kind\\n\\n1\\n\\n2"}',
  },
  {
    title: 'an inject before nothing',
    cites: 'CH-7-05@oneshot',
    event: { ...system, turn: { ...turn, system_prompt: '' } },
    point: 'pre_system_prompt',
    says: ['{"inject": "1"}'],
    means: 'modify "" {"system_prompt":"1"}',
  },
  {
    title: 'tools',
    cites: 'CH-7-11@oneshot',
    event: { hook: 'turn', phase: 'tool_list', turn } as const,
    point: 'pre_api_tools',
    says: ['{"exclude": ["sum"]}'],
    means: 'modify "" {"tools":{"exclude":["sum"]}}',
  },
  {
    title: 'a loop',
    cites: 'CH-7-35@oneshot',
    event: loop,
    point: 'pre_agentic_loop',
    says: ['{"fallback": "call_agent", "fuel": 3}'],
    means: 'modify "" {"fallback":"call_agent","fuel":3}',
  },
  {
    title: 'a loop without a limit',
    cites: 'CH-7-35@oneshot CH-7-36@oneshot',
    event: loop,
    point: 'pre_agentic_loop',
    where: unlimited,
    says: ['{"fallback": "call_agent", "fuel": 3}'],
    means: 'allow ""',
  },
  {
    title: 'a loop without a limit that ends',
    cites: 'CH-7-36@oneshot',
    event: loop,
    point: 'pre_agentic_loop',
    where: unlimited,
    says: ['{"fallback": "call_user", "fuel_delta": 3}'],
    means: 'modify "" {"fallback":"call_user"}',
  },
];

test.each(titled(rows))('$title', ({ event, point, says, means, where = scene }) => {
  const { fuel } = where;
  const payload = fuel === null ? {} : { fuel_remaining: fuel.remaining, fuel_total: fuel.total };
  const question = questionAt(point, payload, where);
  expect(say(chibi.toNeutralAnswer(event, question, ask(question, says).answer))).toBe(means);
});

function settled(change: unknown, on: Turn = turn): unknown {
  return new Json(stringifyJson(toNeutralRequest(Json.from(change), on))).value;
}

const sent = new Json(stringifyJson(describeBody(turn)));

test('an unchanged body changes no message [CH-7-12@oneshot]', () => {
  const escaped = sent.text.replace('see', '\\u0073ee');
  const back = toNeutralRequest(new Json(escaped), turn);
  expect(back['system_prompt']).toBe('be kind');
  expect(back['messages']).toEqual(messages);
});

test('model, tools and options are accepted [CH-7-12@oneshot]', () => {
  const tools = [
    { type: 'function', function: { name: 'sum', description: 'x', parameters: { type: 'object', a: 1 } } },
  ];
  const change = { model: 'm2', tools, temperature: new Json('0.50'), stream: true, cache_prompt: true };
  expect(settled(change)).toEqual({
    model: 'm2',
    tools: [{ name: 'sum', description: 'x', input_schema: { type: 'object', a: 1 }, category: 'memory' }],
    options: { max_tokens: 10, temperature: 0.5 },
  });
});

test('omitted members of a tool or a call are empty [CH-7-12@oneshot]', () => {
  expect(settled({ tools: null })).toEqual({ tools: [] });
  expect(settled({ tools: [{ function: { name: 'n' } }] })).toEqual({
    tools: [{ name: 'n', description: '', input_schema: { type: 'object' } }],
  });
  const called = (given: object) => {
    const tool_calls = [{ id: 'c', function: { name: 'n', ...given } }];
    return stringifyJson(
      toNeutralRequest(Json.from({ messages: [{ role: 'assistant', tool_calls }] }), turn),
    );
  };
  const read = [{}, { arguments: '' }, { arguments: ' \n' }, { arguments: ' {"a": 1} ' }].map(called);
  expect(read.map((text) => text.match(/"args":(.*?)\}\]/)?.[1])).toEqual(['{}', '{}', '{}', '{"a": 1}']);
});

test.each([
  { change: '{"temperature": null}', options: { max_tokens: 10 } },
  { change: '{"max_tokens": null}', options: {} },
  { change: '{"max_tokens": null, "temperature": 0}', options: { temperature: 0 } },
])('an option of null is removed: $change [CH-7-42@oneshot]', ({ change, options }) => {
  expect(say(readAt('pre_api_request', printed(`{"request_body": ${change}}`)))).toContain('modify');
  const { options: left } = toNeutralRequest(new Json(change), turn);
  expect(Json.from(left).value).toEqual(options);
});

test('a redacted message keeps its files, and nothing of its old text [CH-7-12@oneshot]', () => {
  const change = new Json(sent.text.replace('"see"', '"[x]"').replace('"secret"', '"[y]"'));
  const back = toNeutralRequest(change, turn);
  expect(back['messages']).toEqual([
    { role: 'user', content: '[x]', parts: [{ type: 'text', text: '[x]' }, image] },
    messages[1],
    { role: 'tool', content: '[y]', tool_result: { id: 'c1', name: 'sum', error: '[y]' } },
  ]);
});

test('new messages are read [CH-7-12@oneshot]', () => {
  const call = {
    id: 'c9',
    type: 'function',
    function: { name: 'sum', arguments: '{"n": 12345678901234567890}' },
  };
  const given = [
    { role: 'system', content: 'a' },
    { role: 'system', content: 'b' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'x' },
        { type: 'text', text: 'y' },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c9', content: '1' },
    { role: 'user', content: '' },
  ];
  expect(stringifyJson(toNeutralRequest(Json.from({ messages: given }), turn))).toBe(
    '{"system_prompt":"a\\n\\nb","messages":[{"role":"user","content":"xy"},' +
      '{"role":"assistant","content":"","tool_calls":[{"id":"c9","name":"sum","args":{"n": 12345678901234567890}}]},' +
      '{"role":"tool","content":"1","tool_result":{"id":"c9","name":"sum"}},{"role":"user","content":""}]}',
  );
});

const inMessage = (members: string) => `{"messages": [{${members}}]}`;
const inCall = (members: string) =>
  inMessage(`"role": "assistant", "tool_calls": [{"id": "c", "function": {${members}}}]`);

test.each([
  ['{"model": 5}', 'model'],
  ['{"messages": {}}', 'messages'],
  ['{"messages": [5]}', 'messages'],
  [inMessage(''), 'messages'],
  [inMessage('"role": "robot", "content": ""'), 'messages'],
  [inMessage('"role": "user", "content": 5'), 'content'],
  [inMessage('"role": "user", "content": ["x"]'), 'content'],
  [inMessage('"role": "user", "content": [{"type": "image_url"}]'), 'content'],
  [inMessage('"role": "tool", "content": "x"'), 'tool_call_id'],
  [inMessage('"role": "assistant", "tool_calls": {}'), 'tool_calls'],
  [inMessage('"role": "assistant", "tool_calls": ["c"]'), 'tool_calls'],
  [inMessage('"role": "assistant", "tool_calls": [{"id": "c"}]'), 'tool_calls'],
  [inMessage('"role": "assistant", "tool_calls": [{"function": {"name": "n"}}]'), 'tool_calls'],
  [inCall('"name": 5'), 'tool_calls'],
  [inCall('"name": "n", "arguments": {}'), 'arguments'],
  [inCall('"name": "n", "arguments": "{"'), 'arguments'],
  [inCall('"name": "n", "arguments": "[]"'), 'arguments'],
  ['{"tools": {}}', 'tools'],
  ['{"tools": [5]}', 'tools'],
  ['{"tools": [{"type": "function"}]}', 'tools'],
  ['{"tools": [{"function": {}}]}', 'tools'],
  ['{"tools": [{"function": {"name": "n", "description": 5}}]}', 'tools'],
  ['{"tools": [{"function": {"name": "n", "parameters": 5}}]}', 'tools'],
  ['{"temperature": "hot"}', 'temperature'],
  ['{"max_tokens": "9"}', 'max_tokens'],
])('the request_body %s denies, and names %s [CH-7-12@oneshot]', (body, member) => {
  const answer = readAt('pre_api_request', printed(`{"request_body": ${body}}`));
  const message = expect.stringContaining(`\`${member}\``);
  expect(answer).toMatchObject({ verdict: 'deny', error: { code: 'REPLY_MALFORMED', message } });
});

test('a result of an unknown call has the wrong shape [CH-7-12@oneshot]', () => {
  const given = { messages: [{ role: 'tool', tool_call_id: 'c7', content: '' }] };
  expect(() => toNeutralRequest(Json.from(given), turn)).toThrow(
    expect.objectContaining({ code: 'REPLY_MALFORMED' }),
  );
});

import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { type Answer, answers, type HookEvent } from '../../../src/contract/hook.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import { picoclaw } from '../../../src/dialects/picoclaw/dialect.ts';
import { answered, scene, seatOf } from './seat.ts';

const big = '{"n":12345678901234567890}';
const image = { type: 'image', media: { url: 'a' } };
const seen: ChatMessage = { role: 'user', content: 'Hi', parts: [{ type: 'text', text: 'Hi' }, image] };
const asked: ChatMessage = {
  role: 'assistant',
  content: '',
  tool_calls: [{ id: 'c1', name: 'echo', args: new Json(big) }],
};
const failure = { id: 'c1', name: 'echo', error: 'boom', latency_ms: 3 };
const result: ChatMessage = { role: 'tool', content: 'boom', tool_result: failure };
const tool = { name: 'echo', description: 'd', input_schema: { type: 'object' }, category: 'shell' };

const event: HookEvent = {
  hook: 'provider',
  phase: 'before_call',
  request: {
    provider_id: 'main',
    model: 'm',
    system_prompt: 'Be kind.',
    round: 1,
    metadata: {},
    tools: [tool],
    options: { max_tokens: 5 },
    messages: [seen, asked, result],
  },
};

function settled(on: HookEvent, says: string): Answer {
  const [point = ''] = picoclaw.pointsAt(on);
  const question = { point, payload: picoclaw.describe(point, on, scene), hookContext: scene };
  return picoclaw.toNeutralAnswer(on, question, picoclaw.decode(seatOf(), question, answered(says)).output);
}

const msgs = {
  system: '{"role":"system","content":"Be kind."}',
  user: '{"role":"user","content":"Hi"}',
  asked: `{"role":"assistant","content":"","tool_calls":[{"type":"function","id":"c1","function":{"arguments":${JSON.stringify(big)},"name":"echo"}}]}`,
  result: '{"role":"tool","content":"boom","tool_call_id":"c1"}',
};

const request = (members: string) => `{"action":"modify","request":{${members}}}`;

test('an echo changes nothing, files and failures stay [PC-6-16 PC-6-09]', () => {
  const says = request(`"model":"m","options":{"max_tokens":5},"messages":[${Object.values(msgs).join()}]`);
  expect(settled(event, says)).toEqual(answers.modify({ messages: [seen, asked, result] }));
  expect(settled(event, request('"model":"m"'))).toEqual(answers.allow());
});

test('system messages at the beginning are the system prompt [PC-6-09]', () => {
  const says = request(`"messages":[${msgs.system},{"role":"system","content":"Be brief."},${msgs.user}]`);
  expect(settled(event, says)).toEqual(
    answers.modify(
      { messages: [{ role: 'user', content: 'Hi' }], system_prompt: 'Be kind.\n\nBe brief.' },
      { metadata: Json.from({ picoclaw: { dropped_files: 1 } }) },
    ),
  );
});

test('a file is removed with its text, with a report [PC-6-16]', () => {
  const says = request(
    `"messages":[${msgs.system},{"role":"user","content":"***"},${msgs.asked},${msgs.result}]`,
  );
  expect(settled(event, says)).toEqual(
    answers.modify(
      { messages: [{ role: 'user', content: '***' }, asked, result] },
      { metadata: Json.from({ picoclaw: { dropped_files: 1 } }) },
    ),
  );
});

test('a redacted failure is still one, and a call keeps its long numbers [PC-4-08]', () => {
  const says = request(
    `"messages":[${msgs.system},${msgs.user},${msgs.asked.replace('"content":""', '"content":"x"')},{"role":"tool","content":"***","tool_call_id":"c1"}]`,
  );
  const called = {
    role: 'assistant',
    content: 'x',
    tool_calls: [{ id: 'c1', name: 'echo', args: new Json(big) }],
  };
  expect(settled(event, says)).toEqual(
    answers.modify({
      messages: [seen, called, { role: 'tool', content: '***', tool_result: { ...failure, error: '***' } }],
    }),
  );
});

test('model, options and tools are accepted [PC-6-10 PC-1-04]', () => {
  const def = (name: string) =>
    `{"type":"function","function":{"name":"${name}","description":"d","parameters":{"type":"object"}}}`;
  const says = request(`"model":"big","options":{"temperature":0},"tools":[${def('echo')},${def('extra')}]`);
  const { category: _category, ...plain } = tool;
  expect(settled(event, says)).toMatchObject({
    replace: {
      value: {
        model: 'big',
        options: { max_tokens: 5, temperature: 0 },
        tools: [tool, { ...plain, name: 'extra' }],
      },
    },
  });
});

test('a response is the whole message, without the calls that it does not repeat [PC-6-12]', () => {
  const after: HookEvent = {
    hook: 'provider',
    phase: 'after_call',
    request: event.request,
    response: {
      provider_id: 'main',
      model: 'm',
      message: { ...asked, reasoning: 'hm', finish_reason: 'stop' },
      round: 1,
      latency_ms: 1,
    },
  };
  const kept = `"tool_calls":[${JSON.stringify({ id: 'c1', function: { name: 'echo', arguments: big } })}]`;
  expect(
    settled(after, '{"action":"modify","response":{"response":{"content":"***","reasoning_content":""}}}'),
  ).toEqual(answers.modify({ message: { role: 'assistant', content: '***', finish_reason: 'stop' } }));
  expect(settled(after, `{"action":"modify","response":{"response":{"content":"***",${kept}}}}`)).toEqual(
    answers.modify({
      message: {
        role: 'assistant',
        content: '***',
        finish_reason: 'stop',
        reasoning: 'hm',
        tool_calls: asked['tool_calls'],
      },
    }),
  );
});

test('calls and results already have the words of the pipeline [PC-6-13 PC-6-14]', () => {
  const call = { name: 'echo', args: {}, call_id: 'c1' };
  const before: HookEvent = { hook: 'tool', phase: 'before_execution', request: call };
  expect(settled(before, `{"action":"modify","call":{"tool":"b","arguments":${big}}}`)).toEqual(
    answers.modify({ args: new Json(big), name: 'b' }),
  );
  const denial = '{"action":"deny_tool","reason":"no"}';
  expect(settled(before, denial)).toMatchObject({ verdict: 'deny', reason: 'no' });
});

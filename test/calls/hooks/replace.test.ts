import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { readEvent } from '../../../src/calls/hooks/event-input.ts';
import { applyReplace } from '../../../src/calls/hooks/replace.ts';
import type { HookEvent, TurnEvent } from '../../../src/contract/hook.ts';
import { beforeExecution } from './played.ts';

const json = (text: string) => new Json(text);
const user = (content: string, more = {}) => ({ role: 'user', content, ...more }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;
const tools = ['a', 'b', 'c'].map((name) => ({ name, description: '', input_schema: {} }));
const turn: TurnEvent['turn'] = {
  ...{
    prompt: 'old',
    system_prompt: 'Be kind.',
    messages: [user('first'), assistant('yes'), user('old'), assistant('well')],
  },
  ...{ tools, provider_id: 'p', model: 'm', options: { max_tokens: 1 } },
};
const at = (
  phase: 'prompt' | 'system_prompt' | 'tool_list' | 'request' | 'loop' | 'turn_start',
): TurnEvent => ({ hook: 'turn', phase, turn });

function replace(event: HookEvent, text: string) {
  const { event: replaced, parts } = applyReplace(event, json(text));
  return { event: replaced, parts: Object.fromEntries([...parts].map(([key, part]) => [key, part.text])) };
}

test('a prompt replaces the newest user message', () => {
  const { event, parts } = replace(at('prompt'), '{"prompt":"new","x":1.10}');
  const messages = [user('first'), assistant('yes'), user('new'), assistant('well')];
  expect(event).toEqual({ ...at('prompt'), turn: { ...turn, prompt: 'new', messages } });
  expect(parts).toEqual({ prompt: '"new"', x: '1.10' });
  expect(replace(at('prompt'), '{"system_prompt":"x"}').event).toEqual(at('prompt'));
});

test('a system prompt is replaced where hooks receive it', () => {
  const { event } = replace(at('system_prompt'), '{"system_prompt":"","prompt":"x"}');
  expect(event).toEqual({ ...at('system_prompt'), turn: { ...turn, system_prompt: '' } });
  expect(replace(at('system_prompt'), '{}').event).toEqual(at('system_prompt'));
});

test.each([
  ['{}', ['a', 'b', 'c']],
  ['{"tools":{}}', ['a', 'b', 'c']],
  ['{"tools":{"include":["c","a","x"]}}', ['a', 'c']],
  ['{"tools":{"include":[]}}', []],
  ['{"tools":{"exclude":["b"]}}', ['a', 'c']],
  ['{"tools":{"include":["a","b"],"exclude":["b"]}}', ['a']],
])('of the tools %s leaves %j', (text, names) => {
  const { event } = replace(at('tool_list'), text);
  expect('turn' in event && event.turn.tools).toEqual(tools.filter(({ name }) => names.includes(name)));
});

test.each([
  [at('prompt'), '{"prompt":7}'],
  [at('prompt'), '{"prompt":null}'],
  [at('system_prompt'), '{"system_prompt":{}}'],
  [at('tool_list'), '{"tools":["a"]}'],
  [at('tool_list'), '{"tools":{"include":"a"}}'],
  [at('tool_list'), '{"tools":{"exclude":{}}}'],
  ...['{"model":7}', '{"tools":{}}', '{"tools":[{}]}', '{"tools":[{"name":""}]}', '{"tools":[7]}'].map(
    (text) => [at('request'), text] as const,
  ),
  ...[
    '{"tools":[{"name":"a","description":7}]}',
    '{"options":[]}',
    '{"options":{"max_tokens":"1"}}',
    '{"options":{"temperature":null}}',
  ].map((text) => [at('request'), text] as const),
  [beforeExecution, '{"args":{"a":1,"a":2}}'],
  [beforeExecution, '{"args":{"a":{"b":1,"b":2}}}'],
] as const)('of %j nothing can be replaced by %s', (event, text) => {
  expect(() => applyReplace(event, json(text))).toThrow();
});

test('answers at loop points and to notifications change nothing of the turn', () => {
  for (const phase of ['loop', 'turn_start'] as const) {
    const { event, parts } = replace(at(phase), '{"prompt":"x","fuel":3}');
    expect(event).toEqual(at(phase));
    expect(parts).toEqual({ prompt: '"x"', fuel: '3' });
  }
});

test('each part of a model call can be replaced', () => {
  const { event } = replace(
    at('request'),
    '{"model":"n","system_prompt":"s","messages":[{"role":"user","content":"x"}],"tools":[{"name":"t","description":"d","input_schema":{"a":1}},{"name":"u","input_schema":7}],"options":{"max_tokens":5,"temperature":0}}',
  );
  expect(event).toEqual({
    ...at('request'),
    turn: {
      ...turn,
      ...{
        model: 'n',
        system_prompt: 's',
        messages: [user('x')],
        options: { max_tokens: 5, temperature: 0 },
      },
      tools: [
        { name: 't', description: 'd', input_schema: { a: 1 } },
        { name: 'u', description: '', input_schema: { type: 'object' } },
      ],
    },
  });
  expect(replace(at('request'), '{}').event).toEqual(at('request'));
  const { event: without } = replace(at('request'), '{"options":{}}');
  expect('turn' in without && without.turn.options).toStrictEqual({});
});

const beforeCall = readEvent({
  hook: 'provider',
  phase: 'before_call',
  request: {
    messages: [user('my card', { parts: [{ type: 'text', text: 'my card' }] })],
    system_prompt: 'Be kind.',
  },
});

test('messages with conflicting copies are reconciled, also in observers’ events', () => {
  const { event, parts } = replace(
    beforeCall,
    '{"messages":[{"role":"user","content":"[x]","parts":[{"type":"text","text":"my card"}]}]}',
  );
  expect(event).toMatchObject({
    request: { messages: [{ content: '[x]', parts: [{ text: '[x]' }] }], system_prompt: 'Be kind.' },
  });
  expect(JSON.parse(parts['messages'] ?? '')).toEqual([
    { role: 'user', content: '[x]', parts: [{ type: 'text', text: '[x]' }] },
  ]);
  const same = '[ {"role":"user","content":"[x]"} ]';
  expect(replace(beforeCall, `{"messages":${same}}`).parts).toEqual({ messages: same });
});

test('one message may replace a list of one', () => {
  const { event } = replace(beforeCall, '{"messages":{"role":"user","content":"[x]"}}');
  expect(event).toMatchObject({ request: { messages: [user('[x]')] } });
});

test('the rest of a body is replaced where there is one, without duplicate keys', () => {
  if (beforeCall.phase !== 'before_call') throw new Error('it is');
  const withOther = { ...beforeCall, request: { ...beforeCall.request, other: json('{"a":1}') } };
  expect(replace(withOther, '{"other":{"a":2.50}}').event).toMatchObject({
    request: { other: json('{"a":2.50}') },
  });
  expect(replace(withOther, '{"system_prompt":"s"}').event).toMatchObject({
    request: { system_prompt: 's', other: json('{"a":1}') },
  });
  expect(() => replace(withOther, '{"other":{"a":1,"a":2}}')).toThrow();
  expect(() => replace(beforeCall, '{"other":{}}')).toThrow();
});

const afterCall = readEvent({
  hook: 'provider',
  phase: 'after_call',
  request: { messages: [user('q')] },
  response: { message: { content: 'secret', parts: [{ type: 'text', text: 'secret' }] } },
});

test('the answer of a model is replaced as one message', () => {
  const { event, parts } = replace(
    afterCall,
    '{"message":{"role":"assistant","content":"[x]","parts":[{"type":"text","text":"secret"}]}}',
  );
  expect(event).toMatchObject({
    response: { message: { content: '[x]', parts: [{ text: '[x]' }] } },
    request: { messages: [user('q')] },
  });
  expect(JSON.parse(parts['message'] ?? '')).toMatchObject({ content: '[x]', parts: [{ text: '[x]' }] });
  const whole = '{ "role":"assistant","content":"[x]" }';
  expect(replace(afterCall, `{"message":${whole}}`).parts).toEqual({ message: whole });
  expect(replace(afterCall, '{"message":[]}').event).toBe(afterCall);
  expect(replace(afterCall, '{"x":1}')).toEqual({ event: afterCall, parts: { x: '1' } });
});

test('arguments and name of a call are replaced separately', () => {
  const approval: HookEvent = {
    hook: 'tool',
    phase: 'approval',
    request:
      beforeExecution.phase === 'before_execution'
        ? beforeExecution.request
        : { name: '', args: {}, call_id: '' },
    asked: null,
  };
  for (const event of [beforeExecution, approval]) {
    const { event: both } = replace(event, '{"args":{"b":1.10},"name":"v"}');
    expect(both).toEqual({ ...event, request: { name: 'v', args: json('{"b":1.10}'), call_id: 'call_1' } });
    expect(replace(event, '{"name":7}').event).toEqual(event);
    expect(replace(event, '{}').event).toEqual(event);
  }
});

test('the text of a finished call is replaced, and its result follows', () => {
  const finished = readEvent({
    hook: 'tool',
    phase: 'after_execution',
    request: { name: 'w' },
    response: { content: '{"a":1}' },
  });
  if (finished.phase !== 'after_execution') throw new Error('it is');
  expect(replace(finished, '{"content":"[x]"}').event).toStrictEqual({
    ...finished,
    response: { ...finished.response, content: '[x]' },
  });
  const withResult = { ...finished, response: { ...finished.response, result: json('{"a":1}') } };
  expect(replace(withResult, '{"content":"{\\"a\\":2.50}"}').event).toMatchObject({
    response: { content: '{"a":2.50}', result: json('{"a":2.50}') },
  });
  expect(replace(withResult, '{"content":7}').event).toMatchObject({ response: { content: '7' } });
  expect(replace(withResult, '{}').event).toBe(withResult);
  const blocked: HookEvent = { ...finished, phase: 'blocked', reason: 'no' };
  expect(replace(blocked, '{"content":"[x]"}').event).toMatchObject({
    phase: 'blocked',
    response: { content: '[x]' },
  });
});

test('nothing of a session can be replaced', () => {
  const session = readEvent({ hook: 'session', phase: 'session_start', event: {} });
  expect(replace(session, '{"event":{},"prompt":"x"}').event).toBe(session);
});

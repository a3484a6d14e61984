import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { type EventInput, evalShape, readEvent } from '../../../src/calls/hooks/event-input.ts';
import { phasesOf } from '../../../src/contract/hook.ts';
import { titled } from '../../cite.ts';

const request = { provider_id: '', model: '', messages: [], system_prompt: '', round: 1, metadata: {} };
const session = { session_id: '', conversation_id: '', messages: [], turn_index: 0, metadata: {} };

const completed = [
  {
    title: 'a provider request',
    given: { hook: 'provider', phase: 'before_call', request: {} },
    event: { hook: 'provider', phase: 'before_call', request },
  },
  {
    title: 'a provider response, with what the request says',
    given: {
      hook: 'provider',
      phase: 'after_call',
      request: { provider_id: 'p', model: 'm', round: 3 },
      response: { message: { content: 'hi' }, latency_ms: 5 },
    },
    event: {
      hook: 'provider',
      phase: 'after_call',
      request: { ...request, provider_id: 'p', model: 'm', round: 3 },
      response: {
        provider_id: 'p',
        model: 'm',
        round: 3,
        latency_ms: 5,
        message: { role: 'assistant', content: 'hi' },
      },
    },
  },
  {
    title: 'a tool request',
    given: { hook: 'tool', phase: 'before_execution', request: { name: 'w' } },
    event: { hook: 'tool', phase: 'before_execution', request: { name: 'w', args: {}, call_id: '' } },
  },
  {
    title: 'a tool response, with what the request says',
    given: { hook: 'tool', phase: 'after_execution', request: { name: 'w', call_id: '1' }, response: {} },
    event: {
      hook: 'tool',
      phase: 'after_execution',
      request: { name: 'w', args: {}, call_id: '1' },
      response: { name: 'w', call_id: '1', content: '', error: '', latency_ms: 0 },
    },
  },
  ...phasesOf.session.map((phase) => ({
    title: phase,
    given: { hook: 'session', phase, event: { turn_index: undefined } },
    event: { hook: 'session', phase, event: session },
  })),
  {
    title: 'an eval, whose one phase need not be named',
    given: { hook: 'eval', event: { type: 'tone', score: undefined } },
    event: {
      hook: 'eval',
      phase: 'scored',
      event: { eval_id: '', type: 'tone', passed: false, duration_ms: 0 },
    },
  },
  {
    title: 'an eval whose phase is named',
    given: { hook: 'eval', phase: 'scored', event: { type: 'tone', score: 0.5, value: 7 } },
    event: {
      hook: 'eval',
      phase: 'scored',
      event: { eval_id: '', type: 'tone', passed: false, duration_ms: 0, score: 0.5, value: 7 },
    },
  },
] as readonly { readonly title: string; readonly given: EventInput; readonly event: unknown }[];

test.each(completed)('omitted members of $title are empty', ({ given, event }) => {
  expect(readEvent(given)).toStrictEqual(event);
});

test.each(completed)('existing members of $title are unchanged', ({ given }) => {
  expect(readEvent(readEvent(given))).toStrictEqual(readEvent(given));
});

const contents = [
  { title: 'its own', message: { content: 'a', parts: [{ type: 'text', text: 'b' }] }, content: 'a' },
  {
    title: 'its parts’',
    message: { parts: [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }] },
    content: 'ab',
  },
  {
    title: 'its parts’, where its own is empty',
    message: { content: '', parts: [{ type: 'text', text: 'a' }] },
    content: 'a',
  },
  {
    title: 'its tool result’s',
    message: { tool_result: { parts: [{ type: 'text', text: '22C' }] } },
    content: '22C',
  },
  {
    title: 'its tool result’s, where its parts have none',
    message: { parts: [{ type: 'image' }], tool_result: { parts: [{ type: 'text', text: '22C' }] } },
    content: '22C',
  },
  { title: 'none', message: { parts: [], tool_calls: [{ id: '1' }] }, content: '' },
];

test.each(contents)('the content of a message is $title', ({ message, content }) => {
  const event = readEvent({
    hook: 'session',
    phase: 'session_end',
    event: { messages: [{ role: 'tool', ...message }] },
  });
  expect(event).toMatchObject({ event: { messages: [{ ...message, role: 'tool', content }] } });
});

test('args that are JSON keep their text', () => {
  const args = new Json('{ "n":12345678901234567890 }');
  expect(readEvent({ hook: 'tool', phase: 'before_execution', request: { name: 'w', args } })).toMatchObject({
    request: { args },
  });
});

const provider = { hook: 'provider', phase: 'before_call' };

const refused = titled([
  {
    title: 'an unknown hook',
    cites: 'DS-OUT-04',
    given: { hook: 'model', phase: 'before_call' },
    says: ['"model"', 'provider, tool, session, eval'],
  },
  {
    title: 'a hook that every object has',
    cites: 'DS-OUT-04',
    given: { hook: 'constructor' },
    says: ['"constructor"'],
  },
  { title: 'no hook', cites: 'DS-OUT-04', given: {}, says: ['provider, tool, session, eval'] },
  {
    title: 'no phase',
    cites: 'DS-OUT-04',
    given: { hook: 'tool', request: { name: 'w' } },
    says: ['before_execution, after_execution'],
  },
  {
    title: 'another hook’s phase',
    cites: 'DS-OUT-04',
    given: { ...provider, phase: 'before_execution' },
    says: ['"before_execution"', 'before_call, after_call'],
  },
  { title: 'no request', cites: 'DS-OUT-04', given: provider, says: ['provider before_call', '`request`'] },
  {
    title: 'no response',
    cites: 'DS-OUT-04',
    given: { ...provider, phase: 'after_call', request: {} },
    says: ['`response`'],
  },
  {
    title: 'no event',
    cites: 'DS-OUT-04',
    given: { hook: 'session', phase: 'session_end', request: {} },
    says: ['`event`'],
  },
  {
    title: 'a request that is a list',
    cites: 'DS-OUT-04',
    given: { ...provider, request: [] },
    says: ['request must be object'],
  },
  {
    title: 'a request that is null',
    cites: 'DS-OUT-04',
    given: { ...provider, request: null },
    says: ['request must be object'],
  },
  {
    title: 'several members of a wrong type, all of them',
    cites: 'DS-OUT-04',
    given: {
      ...provider,
      request: {
        model: 1,
        round: 1.5,
        metadata: [],
        messages: [{ role: 'developer' }, { content: null, role: 'user' }, {}],
      },
    },
    says: [
      'request.model must be string',
      'request.round must be integer',
      'request.metadata must be object',
      'request.messages.0.role must be equal to one of the allowed values',
      'request.messages.1.content must be string',
      "request.messages.2 must have required property 'role'",
    ],
  },
  {
    title: 'a response without a message',
    cites: 'DS-OUT-04',
    given: { ...provider, phase: 'after_call', request: {}, response: {} },
    says: ["response must have required property 'message'"],
  },
  {
    title: 'a tool without a name',
    cites: 'DS-OUT-04',
    given: { hook: 'tool', phase: 'before_execution', request: {} },
    says: ["'name'"],
  },
  {
    title: 'args that are text',
    cites: 'DS-OUT-04',
    given: { hook: 'tool', phase: 'before_execution', request: { name: 'w', args: '{}' } },
    says: ['request.args must be object'],
  },
  {
    title: 'a content that is no text',
    cites: 'DS-OUT-04',
    given: { hook: 'tool', phase: 'after_execution', request: { name: 'w' }, response: { content: {} } },
    says: ['response.content must be string'],
  },
  {
    title: 'an eval without a type',
    cites: 'DS-OUT-04',
    given: { hook: 'eval', event: {} },
    says: ["'type'"],
  },
  {
    title: 'an eval with another phase',
    cites: 'DS-OUT-04',
    given: { hook: 'eval', phase: 'before', event: { type: 'x' } },
    says: ['"before"', 'scored'],
  },
  {
    title: 'a score that is text',
    cites: 'DS-OUT-04',
    given: { hook: 'eval', event: { type: 'x', score: '1', turn_index: 'first' } },
    says: ['event.score must be number', 'event.turn_index must be integer'],
  },
]) as readonly { readonly title: string; readonly given: unknown; readonly says: readonly string[] }[];

test.each(refused)('an event with $title is refused', ({ given, says }) => {
  const error = thrownBy(() => readEvent(given as EventInput));
  expect(error).toMatchObject({ name: 'RuntimeError', code: 'EVENT_INVALID' });
  expect(says.filter((words) => !String(error).includes(words))).toEqual([]);
});

test.each([null, undefined, 7, 'text'])('%j is no event', (given) => {
  const error = thrownBy(() => readEvent(given as unknown as EventInput));
  expect(error).toMatchObject({ code: 'EVENT_INVALID' });
});

test('an event that is nested too deeply, or holds itself, is refused', () => {
  const deep = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  const reading = (args: object) => () =>
    readEvent({ hook: 'tool', phase: 'before_execution', request: { name: 'w', args } });
  expect(reading(deep(999))).not.toThrow();
  expect(reading(deep(1_000))).toThrow(expect.objectContaining({ code: 'EVENT_INVALID' }));
  const itself: Record<string, unknown> = {};
  itself['itself'] = itself;
  expect(reading(itself)).toThrow(expect.objectContaining({ code: 'EVENT_INVALID' }));
});

test('an error names the wrong member', () => {
  const check = (context: object) => evalShape('request', { content: 'x', context });
  expect(check({ variables: {} })).toEqual([]);
  expect(check({ colour: 1 })).toEqual(['request.context must NOT have additional properties (colour)']);
  expect(check({ turn_index: '1' })).toEqual(['request.context.turn_index must be integer']);
});

function thrownBy(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

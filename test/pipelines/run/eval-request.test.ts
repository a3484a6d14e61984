import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { scored, unscored } from '../../../src/contract/eval.ts';
import type { ChatMessage } from '../../../src/contract/provider.ts';
import { type EvalInput, toEvalRequest, toScoredEvent } from '../../../src/pipelines/run/eval-request.ts';

const empty = { messages: [], turn_index: 0, tool_calls: [], variables: {}, metadata: {} };

const requests: readonly { readonly title: string; readonly input: EvalInput; readonly request: object }[] = [
  {
    title: 'the content alone',
    input: { content: 'a' },
    request: { type: 'tone', params: {}, content: 'a', context: empty },
  },
  {
    title: 'members that are undefined',
    input: { content: 'a', params: undefined, context: undefined },
    request: { type: 'tone', params: {}, content: 'a', context: empty },
  },
  {
    title: 'part of a context',
    input: { content: 'a', context: { turn_index: 2, session_id: 's' } },
    request: {
      type: 'tone',
      params: {},
      content: 'a',
      context: { ...empty, turn_index: 2, session_id: 's' },
    },
  },
];

test.each(requests)('a request of $title is complete', ({ input, request }) => {
  expect(toEvalRequest('tone', input)).toStrictEqual(request);
});

test('members of a context that are undefined are empty', () => {
  const context = {
    messages: undefined,
    turn_index: undefined,
    tool_calls: undefined,
    variables: undefined,
    prompt_id: undefined,
  };
  const given = { content: 'a', context } as unknown as EvalInput;
  expect(toEvalRequest('tone', given).context).toStrictEqual(empty);
});

test('messages and tool calls of a context are complete', () => {
  // Values that a caller without types may pass.
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }] as unknown as ChatMessage[];
  const tool_calls = [{ name: 'w' }] as unknown as [];
  expect(toEvalRequest('tone', { content: 'a', context: { messages, tool_calls } }).context).toStrictEqual({
    ...empty,
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }], content: 'hi' }],
    tool_calls: [{ name: 'w', args: {}, result: '', error: '', index: 0 }],
  });
});

const refused = [
  { title: 'no content', given: {}, says: ["input must have required property 'content'"] },
  { title: 'a content that is no text', given: { content: ['a'] }, says: ['input.content must be string'] },
  {
    title: 'params that are a list',
    given: { content: '', params: [] },
    says: ['input.params must be object'],
  },
  {
    title: 'params that are the text of a list',
    given: { content: '', params: new Json('[]') },
    says: ['input.params must be object'],
  },
  {
    title: 'members of a context that are wrong or unknown, all of them',
    given: {
      content: '',
      context: { mesages: [], messages: [null], turn_index: '1', tool_calls: {}, session_id: 7 },
    },
    says: [
      'input.context must NOT have additional properties (mesages)',
      'input.context.messages.0 must be object',
      'input.context.turn_index must be integer',
      'input.context.tool_calls must be array',
      'input.context.session_id must be string',
    ],
  },
];

test.each(refused)('a request with $title is refused', ({ given, says }) => {
  const error = thrownBy(() => toEvalRequest('tone', given as unknown as EvalInput));
  expect(error).toMatchObject({ name: 'RuntimeError', code: 'USAGE' });
  expect(String(error)).toContain('eval "tone"');
  expect(says.filter((words) => !String(error).includes(words))).toEqual([]);
});

function thrownBy(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

const request = toEvalRequest('tone', { content: 'a', context: { turn_index: 2, session_id: 's' } });

const told = [
  {
    title: 'all that a score says',
    outcome: scored(0.5, 'half', new Json('{"n": 12345678901234567890}')),
    members: { score: 0.5, explanation: 'half', details: new Json('{"n": 12345678901234567890}') },
  },
  { title: 'a bare score', outcome: scored(0, ''), members: { score: 0 } },
  { title: 'why there is none', outcome: unscored('it timed out'), members: { error: 'it timed out' } },
];

test.each(told)('eval hooks receive $title', ({ outcome, members }) => {
  const event = toScoredEvent(
    { id: 'tone-1', request, passed: false },
    { outcome, durationMs: 12, queueMs: 0, stderr: '' },
  );
  expect(event).toStrictEqual({
    hook: 'eval',
    phase: 'scored',
    event: {
      eval_id: 'tone-1',
      type: 'tone',
      passed: false,
      duration_ms: 12,
      session_id: 's',
      turn_index: 2,
      ...members,
    },
  });
});

import { expect, test } from 'vitest';
import { answers } from '../../../src/contract/hook.ts';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import { ask, conclude, left, questionAt, said, say, scene, seatAt } from './asking.ts';

const json = (value: unknown) => left(JSON.stringify(value));
function resultOf(point: string, given: readonly unknown[], selected?: number) {
  const { answer } = conclude(questionAt(point), said(point, ...given), selected);
  const { agentao: result } = JSON.parse(answer.metadata.text);
  const messages = result.messages?.map((each: { attachment_type: string; payload: unknown }) => [
    each.attachment_type,
    each.payload,
  ]);
  return { ...result, ...(messages && { messages }) };
}

test('the answers of prompt rules form a UserPromptSubmitResult [AO-8-01]', () => {
  const given = [
    { additionalContext: 'a' },
    { additionalContext: ['b', 'c'] },
    { decision: 'block', reason: 'no', additionalContext: 'd' },
  ];
  expect(resultOf('UserPromptSubmit', given)).toEqual({
    blocking_error: 'no',
    prevent_continuation: false,
    stop_reason: null,
    additional_contexts: ['a', 'b', 'c', 'd'],
    messages: [
      ['hook_additional_context', { context: 'a' }],
      ['hook_additional_context', { context: ['b', 'c'] }],
      ['hook_blocking_error', { error: 'no' }],
    ],
  });
});

test('a stop has its reason in the result [AO-8-01]', () => {
  expect(resultOf('UserPromptSubmit', [{ continue: false, stopReason: 'enough' }])).toEqual({
    blocking_error: null,
    prevent_continuation: true,
    stop_reason: 'enough',
    additional_contexts: [],
    messages: [['hook_stopped_continuation', { reason: 'enough' }]],
  });
});

test('the answers of stop rules form a StopHookResult [AO-8-02 AO-9-02]', () => {
  const given = [
    { system_message: 'note', suppress_output: true },
    { force_continue: true, follow_up_message: 'more' },
  ];
  expect(resultOf('Stop', given, 5)).toEqual({
    blocking_error: null,
    force_continue: true,
    follow_up_message: 'more',
    additional_contexts: ['note'],
    stop_reason: 'more',
    suppress_output: true,
    system_message: 'note',
    messages: [
      ['hook_additional_context', { context: 'note' }],
      ['hook_stopped_continuation', { reason: 'more' }],
    ],
    matched_rule_count: 5,
  });
});

test.each([
  { given: { stopReason: 'x', suppressOutput: true, systemMessage: 'y' } },
  { given: { stop_reason: 'x', suppress_output: true, system_message: 'y' } },
])('$given counts [AO-7-24@oneshot]', ({ given }) => {
  expect(resultOf('Stop', [given])).toMatchObject({
    stop_reason: 'x',
    suppress_output: true,
    system_message: 'y',
  });
});

const deny = { hookSpecificOutput: { permissionDecision: 'deny', reason: 'no' } };
const askFirst = { hookSpecificOutput: { permissionDecision: 'ask', reason: 'one' } };
const askAgain = { hookSpecificOutput: { permissionDecision: 'ask', reason: 'two' } };
const allow = { hookSpecificOutput: { permissionDecision: 'allow' } };
const input = { hookSpecificOutput: { updatedInput: { a: 1 } } };

const chains = [
  {
    title: 'a deny holds after an ask',
    given: [askFirst, deny],
    decision: 'deny',
    reason: 'no',
    means: 'deny "no" [Blocked by hook] no',
  },
  {
    title: 'the first ask holds',
    given: [askFirst, askAgain, allow],
    decision: 'ask',
    reason: 'one',
    means: 'ask "one"',
  },
  { title: 'an allow decides nothing', given: [allow], decision: null, reason: null, means: 'allow ""' },
  {
    title: 'new arguments go with an ask',
    given: [input, askFirst],
    decision: 'ask',
    reason: 'one',
    means: 'ask "one" {"args":{"a":1}}',
  },
  {
    title: 'an abort counts as a deny',
    given: [{ continue: false, stopReason: 'enough' }],
    decision: 'deny',
    reason: 'enough',
    means: 'abort turn "enough"',
  },
];

test.each(chains)('$title [AO-7-17 AO-8-03]', ({ given, decision, reason, means }) => {
  const { answer } = conclude(questionAt('PreToolUse'), said('PreToolUse', ...given), 9);
  expect(say(answer)).toBe(means);
  const expected = { decision, reason, additional_contexts: [], matched_rule_count: 9 };
  expect(JSON.parse(answer.metadata.text).agentao).toEqual(expected);
});

test('text before a tool is only recorded [AO-7-15@oneshot]', () => {
  const { answer } = conclude(questionAt('PreToolUse'), [ask({ point: 'PreToolUse', reply: left('fine') })]);
  expect(answer.context).toBeUndefined();
  expect(JSON.parse(answer.metadata.text).agentao.additional_contexts).toEqual(['fine']);
});

test('a denied call has its reason and its marker [AO-8-08]', () => {
  const { hook, answer } = conclude(questionAt('PreToolUse'), said('PreToolUse', allow, deny));
  expect([hook, say(answer)]).toEqual(['h2', 'deny "no" [Blocked by hook] no']);
});

test('a failure that denied is the blocking error of its round [AO-8-01 AO-8-02]', () => {
  const failed = answers.deny('it broke');
  for (const point of ['UserPromptSubmit', 'Stop']) {
    const { answer } = conclude(questionAt(point), [failed]);
    expect(JSON.parse(answer.metadata.text).agentao.blocking_error).toBe('it broke');
  }
});

test('a kept failure is recorded as a warning [AO-7-35@oneshot]', () => {
  const reply = left('', { exit: 1, stderr: 'oops' });
  const { answer } = conclude(questionAt('Stop'), [ask({ point: 'Stop', reply })]);
  const { agentao: result, failed_open } = JSON.parse(answer.metadata.text);
  expect(failed_open).toEqual({ hook: 'guard', cause: 'agentao.exit_nonzero' });
  expect(result.messages).toMatchObject([
    { attachment_type: 'hook_success', payload: { warning: 'Hook exited with code 1' } },
  ]);
  expect(answer.metadata.text).not.toContain('oops');
});

const record = {
  attachment_type: 'hook_stopped_continuation',
  payload: { reason: 'more', via: 'exit2' },
  hook_name: './hook.sh',
  hook_event: 'Stop',
  tool_use_id: '',
  uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  timestamp: '2026-01-02T03:04:05Z',
};

test('a record says what happened, of which rule, when [AO-8-04 AO-8-05]', () => {
  const answer = ask({ point: 'Stop', reply: left('', { exit: 2, stderr: 'more' }) });
  expect(JSON.parse(answer.metadata.text).agentao.messages).toEqual([record]);
});

test('records of two events differ, those of one do not [AO-8-04]', () => {
  const uuidAt = (now: string) => {
    const question = questionAt('UserPromptSubmit', { hookContext: { ...scene, now } });
    const answer = ask({ point: 'UserPromptSubmit', reply: left(''), question });
    return JSON.parse(answer.metadata.text).agentao.messages[0].uuid;
  };
  expect(uuidAt('a')).toBe(uuidAt('a'));
  expect(uuidAt('a')).not.toBe(uuidAt('b'));
});

test('a prompt rule is recorded by that name [AO-8-04]', () => {
  const answer = agentao.staticAnswer(
    seatAt('UserPromptSubmit', { prompt: 'x' }),
    questionAt('UserPromptSubmit'),
  );
  expect(JSON.parse(answer?.metadata.text ?? '').agentao.messages).toMatchObject([
    { hook_name: 'prompt_hook', payload: { context: 'x', source: 'prompt_hook' } },
  ]);
});

test('a blocked prompt has no context, but a record of it [AO-8-07 AO-7-06@oneshot]', () => {
  const given = said('UserPromptSubmit', { additionalContext: 'a' }, { blockingError: 'no' });
  const { answer } = conclude(questionAt('UserPromptSubmit'), given);
  expect(say(answer)).toBe('deny "no" [Blocked by hook] no');
  expect(JSON.parse(answer.metadata.text).agentao.additional_contexts).toEqual(['a']);
});

test('without a rule there is no result [AO-9-01]', () => {
  expect(say(conclude(questionAt('Stop'), [], 0).answer)).toBe('allow ""');
});

const context = { additionalContext: 'a' };
const stops = [
  {
    title: 'contexts stand behind the answer',
    cites: 'AO-8-13',
    end: 'final_response',
    given: [context],
    means: 'allow "" ["a"]',
  },
  {
    title: 'contexts are left out at the limit',
    cites: 'AO-8-13',
    end: 'max_iterations',
    given: [context],
    means: 'allow ""',
  },
  {
    title: 'contexts are left out when any rule suppresses',
    cites: 'AO-8-13',
    end: 'final_response',
    given: [context, { suppressOutput: true }],
    means: 'allow ""',
  },
  {
    title: 'a force beats contexts',
    cites: 'AO-8-14',
    end: 'final_response',
    given: [context, { force_continue: true, follow_up_message: 'more' }],
    means: 'modify "more" {"follow_up":"more"}',
  },
  {
    title: 'a blocking error beats a force',
    cites: 'AO-8-14',
    end: 'final_response',
    given: [{ blockingError: 'no', force_continue: true }],
    means: 'deny "no" [Blocked by Stop hook] no',
  },
];

test.each(stops.map((row) => ({ ...row, title: `${row.title} [${row.cites}]` })))(
  '$title',
  ({ end, given, means }) => {
    const question = questionAt('Stop', { payload: { turn_end_reason: end } });
    expect(say(conclude(question, said('Stop', ...given)).answer)).toBe(means);
  },
);

const atCap = { ...questionAt('Stop'), hookContext: { ...scene, forcedTurns: 3 } };

test('at the cap the answer stays, by no hook’s decision [AO-8-11]', () => {
  const given = ask({ point: 'Stop', reply: json({ decision: 'block', reason: 'more' }), question: atCap });
  const { hook, answer } = conclude(atCap, [given]);
  expect([hook, say(answer)]).toEqual([null, 'allow "more"']);
  expect(agentao.report?.(atCap, { selected: 1, answer })).toMatchObject({
    outcome: 'reentry_capped',
    effect: 'none',
  });
});

test('below the cap a forced turn is applied [AO-8-11]', () => {
  const question = { ...atCap, hookContext: { ...scene, forcedTurns: 2 } };
  const given = ask({ point: 'Stop', reply: json({ decision: 'block', reason: 'more' }), question });
  expect(say(given)).toBe('modify "more" {"follow_up":"more"}');
});

test('reasons that end each loop [AO-7-17 AO-7-28 AO-7-29]', () => {
  const ends = Object.entries(agentao.points).map(([point, { ends: verdicts = [] }]) => [
    point,
    [...verdicts],
  ]);
  expect(Object.fromEntries(ends)).toEqual({
    UserPromptSubmit: ['deny', 'abort'],
    SessionStart: [],
    SessionEnd: [],
    PreToolUse: ['deny', 'abort'],
    PostToolUse: [],
    PostToolUseFailure: [],
    Stop: ['deny', 'abort', 'modify'],
    PreCompact: [],
  });
});

import { expect, test } from 'vitest';
import { titled } from '../../../cite.ts';
import { calling } from '../../../table.ts';
import { ask, conclude, left, questionAt, said, say } from '../asking.ts';
import { blocked, json, prompt, type Row, row, stock, stop, stopped, tool } from '../rows.ts';

const goOn = (text: string) => `modify ${JSON.stringify(text)} ${JSON.stringify({ follow_up: text })}`;
const prevented = 'Hook prevented continuation';
const record = (type: string, payload?: object) => json({ attachment_type: type, payload });
const error = '{"blockingError":"no"}';
const overLines = '{\n"blockingError":"no"\n}';
const asText = (text: string) => `allow "" [${JSON.stringify(text)}]`;
const denyWith = (reason: string) => `deny ${JSON.stringify(reason)} [Blocked by hook] ${reason}`;

const contexts: readonly Row[] = [
  ...['additionalContext', 'additional_context', 'additionalContexts', 'additional_contexts'].map((key) =>
    prompt('AO-7-05@oneshot', `${key} is context`, json({ [key]: 'a' }), 'allow "" ["a"]'),
  ),
  ...['', 5, null, [], [null], {}].map((value) =>
    prompt(
      'AO-7-05@oneshot',
      `${JSON.stringify(value)} is no context`,
      json({ additionalContext: value }),
      'allow ""',
    ),
  ),
  prompt('AO-7-05@oneshot', 'null is left out', json({ additionalContext: ['a', null] }), 'allow "" ["a"]'),
  prompt(
    'AO-7-40@oneshot',
    'messages that are no records are passed over',
    json({ messages: ['text', 5, null], additionalContext: 'a' }),
    'allow "" ["a"]',
  ),
  ...[
    record('hook_success', { context: 'a' }),
    record('hook_additional_context'),
    record('hook_additional_context', {}),
  ].map((reply, index) =>
    prompt('AO-7-40@oneshot', `a record without a context, ${index}`, reply, 'allow ""'),
  ),
];

const denials: readonly Row[] = [
  ...calling(prompt)`
    AO-7-12@oneshot | an error in a message | ${json({ blockingError: { message: 'no' } })} | ${blocked}
    AO-7-12@oneshot | an error in a reason | ${json({ blockingError: { reason: 'no' } })} | ${blocked}
    AO-7-12@oneshot | an error of null | ${json({ blockingError: { error: null } })} | ${denyWith(stock)}
    AO-7-12@oneshot | an error of 5 | ${json({ blockingError: 5 })} | ${denyWith('5')}
    AO-7-40@oneshot | a record of a block | ${record('hook_blocking_error')} | ${denyWith(stock)}
    AO-7-07@oneshot | a blank reason | ${json({ decision: 'block', reason: ' ' })} | ${denyWith(stock)}
    AO-7-40@oneshot | a record of a stop | ${record('hook_stopped_continuation')} | deny "${prevented}" [Hook stopped] ${prevented}
  `,
  ...calling(tool)`
    AO-7-12@oneshot | a denial has its contexts | ${json({ blockingError: 'no', additionalContext: 'a' })} | deny "no" ["a"] [Blocked by hook] no
    AO-7-11@oneshot | defer has its reason | ${json({ hookSpecificOutput: { permissionDecision: 'defer', reason: 'later' } })} | ask "later"
    AO-7-13@oneshot | arguments at top level | ${json({ updatedInput: { a: 1 } })} | modify "" {"args":{"a":1}}
    AO-7-13@oneshot | an end without words | ${json({ continue: false })} | abort turn "${prevented}"
  `,
];

const after = ['PostToolUse', 'PostToolUseFailure'].flatMap((point) => [
  row(
    'AO-7-33@oneshot',
    `${point}: an end without words`,
    point,
    json({ preventContinuation: true }),
    `abort turn "${prevented}"`,
  ),
  row(
    'AO-7-32@oneshot',
    `${point}: an error has its contexts`,
    point,
    json({ blockingError: 'no', additionalContext: 'a' }),
    point === 'PostToolUse' ? 'deny "no" ["a"] [Blocked by hook] no' : 'abort turn "no" ["a"]',
  ),
  row(
    'AO-7-39@oneshot',
    `${point}: a new text at exit 1`,
    point,
    left('{"updatedToolOutput":"x"}', { exit: 1 }),
    'modify "" {"content":"x"}',
  ),
]);

const forces: readonly Row[] = [
  ...calling(stop)`
    AO-7-23@oneshot | prevent_continuation | ${json({ prevent_continuation: true, stopReason: 'more' })} | ${goOn('more')}
    AO-7-40@oneshot | a record of a stop | ${record('hook_stopped_continuation', { reason: 'x' })} | modify "${prevented}" {"follow_up":"Stop hook requested continuation"}
    AO-7-40@oneshot | a record of success | ${record('hook_success', { reason: 'x' })} | allow ""
    AO-7-21@oneshot | a reason alone | ${json({ reason: 'more' })} | allow ""
    AO-7-21@oneshot | a reason to approve | ${json({ decision: 'approve', reason: 'more' })} | allow ""
    AO-7-48@oneshot | what was cut off beside exit 2 | ${left('{"a', { exit: 2, stderr: 'more' })} | ${goOn('more')}
  `,
];

/** Output after which a bad exit code is not a failure. */
const answering = [
  { decision: 'approve' },
  { additionalContext: 'a' },
  { attachment_type: 'hook_success' },
  { messages: [{ attachment_type: 'hook_success' }] },
];
const exits = [
  ...['PreToolUse', 'PostToolUse'].flatMap((point) =>
    answering.map((value) =>
      row(
        'AO-7-18@oneshot',
        `${point}: ${JSON.stringify(value)} counts at exit 1`,
        point,
        left(JSON.stringify(value), { exit: 1 }),
        'additionalContext' in value ? 'allow "" ["a"]' : 'allow ""',
      ),
    ),
  ),
  ...[
    { value: { decision: 'block', reason: 'no' }, means: blocked },
    { value: { continue: false, stopReason: 'enough' }, means: 'abort turn "enough"' },
    { value: { preventContinuation: true, stopReason: 'enough' }, means: 'abort turn "enough"' },
    { value: { blockingError: 'no' }, means: blocked },
  ].map(({ value, means }) =>
    tool(
      'AO-7-18@oneshot',
      `${JSON.stringify(value)} counts at exit 1`,
      left(JSON.stringify(value), { exit: 1 }),
      means,
    ),
  ),
  row(
    'AO-7-44@oneshot',
    'SessionStart: an unknown word takes its context away',
    'SessionStart',
    json({ decision: 'nope', additionalContext: 'a' }),
    'allow ""',
  ),
  row(
    'AO-7-31@oneshot',
    'SessionStart: a context counts at exit 1',
    'SessionStart',
    left('{"additionalContext":"a"}', { exit: 1 }),
    'allow "" ["a"]',
  ),
];

const embedded: readonly Row[] = [
  ...calling(prompt)`
    AO-7-41@oneshot | a stop behind a banner | ${left('hi\n{"continue":false,"stopReason":"enough"}')} | ${stopped}
    AO-7-41@oneshot | a denial far to the right | ${left(`hi\n    ${error}\nbye`)} | ${blocked}
    AO-7-41@oneshot | a denial over lines, then blanks | ${left(`hi\n${overLines}  \t\nbye`)} | ${blocked}
    AO-7-41@oneshot | a denial over lines, far down | ${left(`${'hi\n'.repeat(300)}${overLines}`)} | ${blocked}
    AO-7-47@oneshot | a lone CR | ${left('a\rb')} | ${'allow "" ["a\\nb"]'}
    AO-7-48@oneshot | a JSON text that begins with a brace | ${left('"{ no"')} | allow "" ["{ no"]
  `,
  tool('AO-7-41@oneshot', 'a denial behind a banner at exit 2', left(`hi\n${error}`, { exit: 2 }), blocked),
  tool(
    'AO-7-41@oneshot',
    'an end behind a banner',
    left('hi\n{"continue":false,"stopReason":"enough"}'),
    'abort turn "enough"',
  ),
  ...[`hi\n${error} bye`, `hi\n${overLines} bye`].map((text) =>
    prompt(
      'AO-7-08@oneshot',
      `text behind an object on its line: ${JSON.stringify(text)}`,
      left(text),
      asText(text),
    ),
  ),
];

test.each(titled([...contexts, ...denials, ...after, ...forces, ...exits, ...embedded]))(
  '$title',
  ({ point, reply, means }) => {
    expect(say(ask({ point, reply }))).toBe(means);
  },
);

test.each(['plain', undefined])(
  'an object in place of the result %s denies [AO-7-39@oneshot]',
  (toolOutput) => {
    const question = { ...questionAt('PostToolUse'), payload: { data: { toolOutput } } };
    const answer = ask({ point: 'PostToolUse', reply: json({ updatedToolOutput: {} }), question });
    expect(say(answer)).toBe('deny REPLY_MALFORMED');
  },
);

const resultOf = (point: string, given: Parameters<typeof conclude>[1]) =>
  JSON.parse(conclude(questionAt(point), given).answer.metadata.text).agentao;

test('the result of a round combines all its rules, and without rules there is none [AO-8-01 AO-8-02 AO-9-01]', () => {
  const both = said(
    'UserPromptSubmit',
    { additionalContext: 'a' },
    { continue: false, stopReason: 'enough' },
  );
  expect(resultOf('UserPromptSubmit', both)).toMatchObject({
    prevent_continuation: true,
    blocking_error: null,
  });
  const silent = ask({ point: 'Stop', reply: left('') });
  expect(resultOf('Stop', [silent])).toMatchObject({ force_continue: false, additional_contexts: [] });
  expect(resultOf('Stop', [])).toBeUndefined();
});

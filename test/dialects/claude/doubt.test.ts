import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { answers } from '../../../src/contract/hook.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import { answered } from '../verdicts.ts';
import { left, posted, questionAt, readAt, type SeatChoice, sayAt, specific, together } from './handler.ts';

const open = (cause: string) => `#{"failed_open":{"hook":"guard","cause":"claude.${cause}"}}`;
const pre = (members: object, top: object = {}) => specific('PreToolUse', { ...members }, top);
const switching = (members: object) => specific('PreModelSwitch', { ...members });
const asked = (decision: unknown) => specific('PermissionRequest', { decision });
const reason = (permissionDecisionReason: string) => ({ permissionDecisionReason });
const block = { decision: 'block', reason: 'old' };
const blocked = (members: object) => JSON.stringify({ ...block, ...members });

test.each([
  ['PreToolUse', pre({ permissionDecision: 'deny', ...reason('new') }, block), 'deny "new"'],
  ['PreToolUse', '{"decision":"approve","reason":"ok"}', 'allow "ok"'],
  ['PreToolUse', pre({ permissionDecision: 'deny', ...reason('no'), updatedInput: 5 }), 'deny "no"'],
  ['PreToolUse', pre({ permissionDecision: 'defer', updatedInput: 5 }), 'ask #{"deferred":true}'],
  ['PreToolUse', pre({ permissionDecision: 'ask' }, { systemMessage: 'm' }), 'ask #{"system_message":"m"}'],
  ['PreToolUse', pre({ additionalContext: ' \n' }), 'allow'],
  ['PreModelSwitch', '{"decision":"approve","reason":"ok"}', 'allow'],
  ['PreModelSwitch', '{"decision":"block","reason":"no"}', 'deny "no"'],
  ['PreModelSwitch', switching({ permissionDecision: 'allow', updatedInput: {} }), 'allow'],
  ['PreModelSwitch', switching({ permissionDecision: 'allow', updatedInput: 5 }), 'allow'],
  ['TaskCreated', specific('TaskCreated', { additionalContext: 'c' }), 'allow'],
  ['PreCompact', '{"suppressOutput":false}', 'allow'],
  ['PreToolUse', '{"suppressOutput":false}', 'allow'],
  ['Elicitation', specific('Elicitation', { action: 'cancel' }), 'respond {"action":"cancel"}'],
  ['PermissionRequest', asked('allow'), 'deny "its `decision` is not a known verdict: \\"allow\\""'],
  ['PermissionRequest', asked({}), 'deny "its `behavior` is not a known verdict: none"'],
  [
    'PermissionRequest',
    asked({ behavior: 'allow', interrupt: 'yes' }),
    'deny "it answered with a `interrupt` that is not a boolean"',
  ],
  [
    'PermissionRequest',
    specific('PermissionRequest', { decision: { behavior: 'allow' } }, { systemMessage: 'm' }),
    'allow #{"system_message":"m"}',
  ],
  [
    'PostToolUse',
    specific('PostToolUse', { updatedToolOutput: 1 }, block),
    'deny "its `updatedToolOutput` is neither a string nor of the type of the result"',
  ],
  [
    'PostToolUseFailure',
    specific('PostToolUseFailure', { updatedToolOutput: 'hidden' }),
    'modify {"content":"hidden"}',
  ],
])('at %s %s is %s [CC-6-10 CC-7-05 CC-7-07 CC-7-08 CC-7-13]', (point, says, means) => {
  expect(sayAt(point, left(says))).toBe(means);
});

test.each([
  ['UserPromptSubmit', blocked({ systemMessage: 5 }), 'deny "old"'],
  [
    'UserPromptSubmit',
    blocked({ reason: '', systemMessage: 5 }),
    'deny "UserPromptSubmit hook \\"guard\\" blocked without a message"',
  ],
  ['UserPromptSubmit', blocked({ systemMessage: 'm', stopReason: 5 }), 'deny "old"'],
  ['Stop', blocked({ systemMessage: 5 }), 'modify {"follow_up":"old"}'],
  [
    'Stop',
    blocked({ reason: ' ', systemMessage: 5 }),
    'modify {"follow_up":"Stop hook \\"guard\\" blocked without a message"}',
  ],
  ['PreToolUse', pre({ permissionDecision: 'allow' }, { systemMessage: 5 }), `allow ${open('bad_schema')}`],
])('at %s only the stopping members count of %s, which breaks the schema [CC-6-09]', (point, says, means) => {
  expect(sayAt(point, left(says))).toBe(means);
});

test('an answer that breaks the schema is reported, and its other members are ignored [CC-6-09]', () => {
  expect(readAt('UserPromptSubmit', left(blocked({ systemMessage: 'm', stopReason: 5 }))).notes).toEqual([
    {
      level: 'warn',
      message: 'it answered with a `stopReason` that is not a string; only the parts that stop count',
    },
  ]);
});

test('a message is a warning, and a text goes to the log [CC-7-04 CC-6-05]', () => {
  const notes = ['{"systemMessage":"m"}', 'fine', '{}'].map((says) => readAt('PreToolUse', left(says)).notes);
  expect(notes).toEqual([
    [{ level: 'warn', message: 'm' }],
    [{ level: 'debug', message: 'stdout: fine' }],
    [],
  ]);
});

test('an object with invalid members is no text for the model [CC-6-07@oneshot]', () => {
  expect([sayAt('SessionStart', left('{no}')), sayAt('SessionStart', left('}{no'))]).toEqual([
    `allow ${open('bad_json')}`,
    'allow +["}{no"]',
  ]);
});

const http = (code: 'PROCESS_START' | 'REPLY_MALFORMED' | 'OUTPUT_LIMIT' | 'PROCESS_TIMEOUT') =>
  new RuntimeError(code, 'it failed', { details: { http: true } });
const closed: SeatChoice = { onFailure: 'deny' };

test.each([
  ['PreToolUse', http('REPLY_MALFORMED'), `allow ${open('http_error')}`],
  ['PreToolUse', new RuntimeError('REPLY_MALFORMED', 'it failed'), 'deny REPLY_MALFORMED'],
  ['PreToolUse', http('OUTPUT_LIMIT'), 'deny OUTPUT_LIMIT'],
  ['PreToolUse', http('PROCESS_TIMEOUT'), `allow ${open('timeout')}`],
  ['PreModelSwitch', http('PROCESS_START'), `allow ${open('http_error')}`],
  ['PreModelSwitch', posted(300), `allow ${open('http_error')}`],
  ['PreModelSwitch', posted(299), 'allow'],
  ['PreToolUse', answered('{}'), 'deny REPLY_MALFORMED'],
] as const)('at %s %o is %s [CC-6-12 CC-6-13@http]', (point, reply, means) => {
  expect(sayAt(point, reply)).toBe(means);
});

test('a model switch whose hook failed is denied with the fault [CC-6-12]', () => {
  const late = new RuntimeError('PROCESS_TIMEOUT', 'late');
  expect(readAt('PreModelSwitch', late).output).toMatchObject({ error: { code: 'PROCESS_TIMEOUT' } });
  expect(readAt('PreToolUse', late, closed).output).toMatchObject({ error: { code: 'PROCESS_TIMEOUT' } });
});

test('a rejection that interrupts ends the turn, even beside an approval [CC-7-13 CC-7-09]', () => {
  const rejection = left(asked({ behavior: 'deny', message: 'no', interrupt: true }));
  const approval = left(asked({ behavior: 'allow' }));
  const alone = readAt('PermissionRequest', rejection).output;
  expect(alone).toMatchObject({ verdict: 'abort', scope: 'turn', reason: 'no' });
  expect(together('PermissionRequest', [approval, rejection])).toMatchObject({ hook: 'h2', answer: alone });
});

test('the warnings of all handlers are kept, each once', () => {
  const warned = (...warnings: string[]) => answers.allow({ metadata: Json.from({ warnings }) });
  const told = [warned('a', 'b'), warned('b'), answers.allow()].map((answer) => ({ hook: 'h', answer }));
  const concluded = claude.conclude?.(questionAt('Stop'), told, { hook: null, answer: answers.allow() });
  expect(concluded?.answer.metadata.value).toEqual({ warnings: ['a', 'b'] });
});

test.each(['Stop', 'SubagentStop'])('at %s context alone continues the turn [CC-8-01]', (point) => {
  const more = left(specific(point, { additionalContext: 'more' }, { systemMessage: 'm' }));
  const { hook, answer } = together(point, [left(), more]);
  expect([hook, answer.verdict === 'modify' && answer.replace.value, answer.metadata.value]).toEqual([
    'h2',
    { follow_up: 'more' },
    { system_message: 'm' },
  ]);
});

const rewrite = (point: string, members: object) => left(specific(point, { ...members }));
const asks = { permissionDecision: 'ask', updatedInput: { a: 1 } };

test.each([
  ['PreToolUse', [asks, { updatedInput: { b: 2 } }], 'the arguments; "h2"'],
  ['PreToolUse', [{ updatedInput: { b: 2 } }, {}, asks], 'the arguments; "h3"'],
  ['PostToolUse', [{ updatedToolOutput: 'a' }, { updatedToolOutput: 'b' }], 'the result; "h2"'],
  [
    'PostToolUse',
    [{ updatedToolOutput: 'a' }, { updatedToolOutput: 'b' }, { updatedToolOutput: 'c' }],
    'the result; "h3"',
  ],
])(
  'at %s of several rewrites the last in the file wins, and a warning says so: %j [CC-7-07]',
  (point, members, what) => {
    const { answer } = together(
      point,
      members.map((each) => rewrite(point, each)),
    );
    const warning = `several hooks replaced ${what} is the last in the file and wins`;
    expect(answer.metadata.value).toEqual({ warnings: [warning] });
  },
);

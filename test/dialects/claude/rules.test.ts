import { expect, test } from 'vitest';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import { left, questionAt, readAt, type SeatChoice, say, sayAt, scene, seatAt, specific } from './handler.ts';

const exit2 = left('', { exitCode: 2, stderr: 'no' });
const stock = (point: string, what: string) =>
  JSON.stringify(`${point} hook "guard" ${what} without a message`);
const open = '#{"failed_open":{"hook":"guard","cause":"claude.bad_schema"}}';

test('an unknown event is a defect', () => {
  const question = { ...questionAt('Stop'), point: 'Nope' };
  expect(() => claude.decode(seatAt('Stop'), question, left())).toThrow(
    expect.objectContaining({ code: 'INTERNAL' }),
  );
});

test('only a change of policy settings is not blocked [CC-5-09]', () => {
  const at = (point: string, source: string, reply = exit2) =>
    say(readAt(point, reply, {}, questionAt(point, { source })).output);
  const ends = left('{"continue":false}');
  expect([
    at('ConfigChange', 'policy_settings'),
    at('ConfigChange', 'policy_settings', ends),
    at('ConfigChange', 'user_settings'),
    at('UserPromptSubmit', 'policy_settings'),
  ]).toEqual(['allow', 'allow', 'deny "no"', 'deny "no"']);
});

test.each([
  ['UserPromptSubmit', '{"decision":"block","reason":" "}', `deny ${stock('UserPromptSubmit', 'blocked')}`],
  [
    'UserPromptSubmit',
    '{"continue":false,"stopReason":" "}',
    `abort ${stock('UserPromptSubmit', 'ended the turn')}`,
  ],
  ['PostToolUse', '{"decision":"block","reason":" "}', `allow +[${stock('PostToolUse', 'blocked')}]`],
  ['Stop', '{"decision":"deny"}', 'modify {"follow_up":"Stop hook \\"guard\\" blocked without a message"}'],
  ['TeammateIdle', '{"decision":"block"}', 'allow'],
  ['TaskCompleted', '{"decision":"stop"}', 'allow'],
  ['UserPromptSubmit', specific('UserPromptSubmit', { permissionDecisionReason: 5 }), 'allow'],
  ['PreToolUse', specific('PreToolUse', { content: 5 }), 'allow'],
  ['PreToolUse', specific('PreToolUse', { permissionDecisionReason: 5 }), `allow ${open}`],
  ['Elicitation', specific('Elicitation', { content: 5 }), `allow ${open}`],
])('at %s %s is %s [CC-6-08 CC-6-17]', (point, says, means) => {
  expect(sayAt(point, left(says))).toBe(means);
});

test('a batch that is blocked ends the turn [CC-5-01]', () => {
  expect(readAt('PostToolBatch', exit2).output).toMatchObject({ verdict: 'abort', scope: 'turn' });
});

test.each([
  ['UserPromptSubmit', '{"decision":"block"}'],
  ['UserPromptSubmit', '{"decision":"stop"}'],
  ['Stop', '{"decision":"block","reason":"go on"}'],
  ['PostToolUse', '{"decision":"deny","reason":"r"}'],
  ['PreToolUse', '{"decision":"allow"}'],
  ['UserPromptSubmit', '{"permissionDecision":"deny","decision":"block","reason":"r"}'],
  ['UserPromptSubmit', '{"permissionDecision":"deny","continue":false}'],
  ['Notification', '{"permissionDecision":"deny"}'],
])('at %s there is no note on %s [CC-6-18]', (point, says) => {
  expect(readAt(point, left(says)).notes).toEqual([]);
});

test.each([
  ['{"permissionDecision":"deny"}', 'permissionDecision'],
  ['{"hook_specific_output":{"permissionDecision":"deny"}}', 'hook_specific_output.permissionDecision'],
  [specific('UserPromptSubmit', { permissionDecision: 'deny' }), 'hookSpecificOutput.permissionDecision'],
])('a permission in another place is named: %s [CC-6-18]', (says, key) => {
  const message = expect.stringContaining(`its \`${key}\` has no effect: `);
  expect(readAt('UserPromptSubmit', left(says)).notes).toEqual([{ level: 'warn', message }]);
});

const capped = { ...scene, forcedTurns: 99 };

interface Capped {
  readonly point?: string;
  readonly says: string;
  readonly means: string;
  readonly seat?: SeatChoice;
}

const abroad: readonly Capped[] = [
  { point: 'PreToolUse', says: specific('PreToolUse', { updatedInput: {} }), means: 'modify {"args":{}}' },
  {
    point: 'PostToolUse',
    says: specific('PostToolUse', { additionalContext: 'c' }),
    means: 'allow +["c"]',
  },
  { says: '{}', means: 'allow' },
  { says: '{"decision":"stop"}', means: 'deny "its `decision` is not a known verdict: \\"stop\\""' },
  {
    says: specific('Stop', { additionalContext: 'c' }, { decision: 'stop' }),
    means: 'deny "its `decision` is not a known verdict: \\"stop\\"" +["c"]',
  },
  {
    says: specific('Stop', { additionalContext: 'c' }),
    means: 'allow +["c"]',
    seat: { isAsync: true },
  },
];

test.each(abroad)('the cap applies to forced turns at Stop: $says is $means [CC-8-02]', (row) => {
  const { point = 'Stop', says, means, seat = {} } = row;
  const { output, notes } = readAt(point, left(says), seat, questionAt(point, {}, capped));
  expect([say(output), notes]).toEqual([means, []]);
});

test('a teammate continues above the cap [CC-8-02]', () => {
  const { output } = readAt('TeammateIdle', exit2, {}, questionAt('TeammateIdle', {}, capped));
  expect(say(output)).toBe('modify {"follow_up":"no"}');
});

test('a forced turn that is dropped causes a warning: at the cap, and without a round left [CC-8-02]', () => {
  const at = (hookContext: typeof scene) => readAt('Stop', exit2, {}, questionAt('Stop', {}, hookContext));
  const left0 = at({ ...scene, fuel: { remaining: 0, total: 5 } });
  const message = 'the turn has no round left, and is not continued again';
  expect([say(left0.output), left0.notes]).toEqual([
    `allow #{"warnings":["${message}"]}`,
    [{ level: 'warn', message }],
  ]);
  const free = [{ remaining: 1, total: 5 }, null].map((fuel) => say(at({ ...scene, fuel }).output));
  expect(free).toEqual(['modify {"follow_up":"no"}', 'modify {"follow_up":"no"}']);
  expect(at(capped).notes.map(({ level }) => level)).toEqual(['warn']);
});

import { expect, test } from 'vitest';
import type { RuntimeError } from '../../../src/base/errors.ts';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { fault, left, questionAt, say, scene, seatAt } from './asking.ts';

function notesOn(
  point: string,
  reply: string | Reply | RuntimeError,
  question = questionAt(point),
): string[] {
  const given = typeof reply === 'string' ? left(reply) : reply;
  const { notes } = agentao.decode(seatAt(point), question, given);
  return notes.map(({ level, message }) => `${level} ${message}`);
}

const noEffect = (key: string, right: string) => [`warn its \`${key}\` has no effect: ${right}`];
const forTool = 'write `{"hookSpecificOutput": {"permissionDecision": …}}`';
const elsewhere = (point: string) =>
  `${point} has no permission decision; deny with \`{"blockingError": …}\``;

test.each([
  ['PreToolUse', '{"permissionDecision":"deny"}', noEffect('permissionDecision', forTool)],
  ['PreToolUse', '{"permission_decision":"deny"}', noEffect('permission_decision', forTool)],
  [
    'PreToolUse',
    '{"hook_specific_output":{"permissionDecision":"deny"}}',
    noEffect('hook_specific_output.permissionDecision', forTool),
  ],
  [
    'PreToolUse',
    '{"hookSpecificOutput":{"permission_decision":"deny"}}',
    noEffect('hookSpecificOutput.permission_decision', forTool),
  ],
  [
    'UserPromptSubmit',
    '{"hookSpecificOutput":{"permissionDecision":"deny"}}',
    noEffect('hookSpecificOutput.permissionDecision', elsewhere('UserPromptSubmit')),
  ],
  ['Stop', '{"permissionDecision":"deny"}', noEffect('permissionDecision', elsewhere('Stop'))],
  ['PreToolUse', '{"permissionDecision":null}', []],
  ['PreToolUse', '{"hookSpecificOutput":{"permissionDecision":"allow"}}', []],
  ['PreToolUse', '{"permissionDecision":"deny","blockingError":"no"}', []],
  ['PreToolUse', '{"permissionDecision":"deny","continue":false}', []],
])('at %s a permission in another place is noted: %s [AO-7-42@oneshot]', (point, says, notes) => {
  expect(notesOn(point, says)).toEqual(notes);
});

const beside =
  'warn stdout is read as text, although one of its lines looks like a JSON object: print only that object';

test.each([
  ['PreToolUse', 'a {b', []],
  ['PreToolUse', 'a\n  {b', [beside]],
  ['PostToolUse', '', []],
  ['PostToolUse', 'text', ['debug it said: text']],
  ['PostToolUse', '{}', []],
  ['SessionEnd', '{"a', []],
  ['PreCompact', 'a\n{"blockingError":"no"}', []],
])(
  'at %s the text %j is noted if it looks like JSON [AO-7-15@oneshot AO-7-34@oneshot]',
  (point, says, notes) => {
    expect(notesOn(point, says)).toEqual(notes);
  },
);

const stopsNothing = (says: string) => [`warn SessionStart cannot stop anything: ${says} has no effect`];

const starts: readonly (readonly [says: string, notes: readonly unknown[]])[] = [
  ...[
    '{"decision":"block"}',
    '{"continue":false}',
    '{"preventContinuation":1}',
    '{"blockingError":"no"}',
  ].map((says) => [says, stopsNothing(says)] as const),
  ['{"decision":"approve"}', []],
  ['{"continue":true}', []],
  ['{"additionalContext":"a"}', []],
  [
    '{"decision":"nope"}',
    ['warn SessionStart takes context only: the reply has the unknown decision "nope"'],
  ],
  ['text', ['debug it said: text']],
  ['a\n{"decision":"block","decision":"approve"}', [expect.stringMatching(/^debug it said: a/), beside]],
];

test.each(starts)('at SessionStart a stop is noted: %s [AO-7-44@oneshot]', (says, notes) => {
  expect(notesOn('SessionStart', says)).toEqual(notes);
});

test('a fault is a warning where nothing can be denied [AO-7-37@oneshot]', () => {
  expect(notesOn('SessionStart', fault('OUTPUT_LIMIT'))).toEqual(['warn it failed: it went wrong']);
});

const noReason = ['warn its `decision: block` has no reason, so the turn ends'];

test.each([
  ['{"decision":"block","reason":5}', noReason],
  ['{"decision":"block","reason":null}', noReason],
  ['{"decision":"block","reason":"more","continue":false}', []],
  ['{"decision":"approve"}', []],
  ['{}', []],
])('a block without a reason is noted: %s [AO-7-21@oneshot]', (says, notes) => {
  expect(notesOn('Stop', says)).toEqual(notes);
});

test('a forced turn without a round left is ignored, with a note [AO-8-11]', () => {
  const question = { ...questionAt('Stop'), hookContext: { ...scene, isLastRound: true } };
  const reply = left('', { exit: 2, stderr: 'more' });
  expect(notesOn('Stop', reply, question)).toEqual([
    'warn it would continue the turn, but no round is left: the answer is final',
  ]);
  expect(say(agentao.decode(seatAt('Stop'), question, reply).output)).toBe('modify "more" {}');
});

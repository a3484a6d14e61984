import { expect, test } from 'vitest';
import { left, readAt, sayAt, specific } from './handler.ts';

const refusing = (point: string, stdout: string) => sayAt(point, left(stdout, { exitCode: 2, stderr: 'no' }));
const pre = (members: object) => specific('PreToolUse', { ...members });
const reason = (permissionDecisionReason: string) => ({ permissionDecisionReason });

test.each([
  ['UserPromptSubmit', '{}', 'deny "no"'],
  ['UserPromptSubmit', '{"reason":"why"}', 'deny "no"'],
  ['UserPromptSubmit', '{"decision":"block","reason":"why"}', 'deny "why"'],
  ['UserPromptSubmit', '{"decision":"block"}', 'deny "no"'],
  ['UserPromptSubmit', '{"decision":"approve","reason":"fine"}', 'deny "no"'],
  ['UserPromptSubmit', '{"decision":"stop","reason":"why"}', 'deny "no"'],
  ['PostToolBatch', '{"decision":"approve"}', 'abort "no"'],
  ['PostToolUse', '{"decision":"approve"}', 'allow +["no"]'],
  ['Stop', '{"decision":"block"}', 'modify {"follow_up":"no"}'],
  ['Stop', '{"decision":"block","reason":"why"}', 'modify {"follow_up":"why"}'],
  ['PreToolUse', pre({ permissionDecision: 'deny', ...reason('why') }), 'deny "why"'],
  ['PreToolUse', pre({ permissionDecision: 'deny' }), 'deny "no"'],
  ['PreToolUse', pre({ permissionDecision: 'allow', ...reason('fine') }), 'deny "no"'],
  ['PreToolUse', pre({ permissionDecision: 'ask', ...reason('sure?') }), 'deny "no"'],
  ['PreToolUse', pre({ permissionDecision: 'perhaps' }), 'deny "no"'],
  ['PreToolUse', pre({ permissionDecision: 'allow', updatedInput: 5 }), 'deny "no"'],
  ['PreToolUse', '{"decision":"approve","reason":"fine"}', 'deny "no"'],
  ['PreModelSwitch', '{"decision":"approve","reason":"fine"}', 'deny "no"'],
])('at %s no JSON overrides exit code 2: %s [CC-6-01@oneshot CC-6-02]', (point, stdout, means) => {
  expect(refusing(point, stdout)).toBe(means);
});

const notesOf = (point: string, stderr: string, stdout = '') =>
  readAt(point, left(stdout, { exitCode: 2, stderr })).notes;

test('an exit 2 message goes to the log where it stops nothing, even beside JSON [CC-5-01]', () => {
  expect([notesOf('CwdChanged', ''), notesOf('PreToolUse', 'no'), notesOf('PreToolUse', '')]).toEqual([
    [],
    [],
    [],
  ]);
  expect(notesOf('CwdChanged', 'no', '{"systemMessage":"m"}')).toEqual([
    { level: 'warn', message: 'm' },
    { level: 'warn', message: 'no' },
  ]);
});

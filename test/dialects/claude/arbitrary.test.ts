import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject } from '../../../src/base/json/json.ts';
import type { Answer } from '../../../src/contract/hook.ts';
import { claudeEvents, claudeGuardEvents } from '../../../src/dialects/claude/config/settings.ts';
import { claude } from '../../../src/dialects/claude/dialect.ts';
import { anySample } from '../../json-texts.ts';
import { given, left, questionAt, readAt, seatAt, specific } from './handler.ts';

const numRuns = 1_000;
const anyEvent = fc.constantFrom(...claudeEvents);
const anyCode = fc.constantFrom(0, 1, 2, 126, null);
const words = ['allow', 'deny', 'ask', 'defer', 'block', 'approve', 'accept', 'Allow', '', 'x'];
const anyWord = fc.oneof(fc.constantFrom(...words), fc.jsonValue());

const anyAnswer = fc
  .record(
    {
      continue: fc.oneof(fc.boolean(), fc.jsonValue()),
      decision: anyWord,
      reason: fc.oneof(fc.string(), fc.jsonValue()),
      hookSpecificOutput: fc.oneof(
        fc.jsonValue(),
        fc.record(
          {
            hookEventName: fc.constantFrom(...claudeEvents),
            permissionDecision: anyWord,
            decision: fc.oneof(fc.record({ behavior: anyWord }), anyWord),
            action: anyWord,
            updatedInput: fc.jsonValue(),
            updatedToolOutput: fc.jsonValue(),
            additionalContext: fc.oneof(fc.string(), fc.jsonValue()),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: [] },
  )
  .map((answer) => Buffer.from(JSON.stringify(answer)));

const anyBytes = fc.oneof(
  { arbitrary: anyAnswer, weight: 4 },
  { arbitrary: anySample.map(({ text }) => Buffer.from(text)), weight: 1 },
  { arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
);

test('a handler’s answer of any kind throws only the runtime’s faults [CC-6-08]', () => {
  fc.assert(
    fc.property(anyEvent, anyBytes, anyCode, (point, bytes, exitCode) => {
      const replies = [left(bytes, { exitCode }), left(bytes, { exitCode: null, httpStatus: 200 })];
      const verdicts = replies.map((reply) => readAt(point, reply, { onFailure: 'deny' }).output.verdict);
      expect(verdicts.map((each) => typeof each)).toEqual(['string', 'string']);
    }),
    { numRuns },
  );
});

function isPassing({ verdict }: Answer): boolean {
  return verdict === 'allow' || verdict === 'modify';
}

const failures = fc.constantFrom(1, 3, 126, 127, 137);

test('with on_failure: deny only exit code 0 passes a guard without an object [CC-9-02]', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...claudeGuardEvents),
      fc.string().filter((text) => !text.trim().startsWith('{')),
      failures,
      (point, text, exitCode) => {
        const { output } = readAt(point, left(text, { exitCode }), { onFailure: 'deny' });
        expect(isPassing(output)).toBe(false);
      },
    ),
    { numRuns: 300 },
  );
});

const known = new Set<unknown>(['allow', 'deny', 'ask', 'defer']);

test('no unknown permissionDecision lets a call pass [CC-6-10]', () => {
  fc.assert(
    fc.property(
      anyWord.filter((word) => !known.has(word)),
      anyCode,
      (permissionDecision, exitCode) => {
        const reply = left(specific('PreToolUse', { permissionDecision }), { exitCode });
        expect(readAt('PreToolUse', reply).output.verdict).toBe('deny');
      },
    ),
    { numRuns },
  );
});

test('only `behavior: allow` approves [CC-7-13]', () => {
  fc.assert(
    fc.property(anyBytes, anyCode, (bytes, exitCode) => {
      const { output } = readAt('PermissionRequest', left(bytes, { exitCode }));
      expect(isPassing(output) ? approves(bytes) : true).toBe(true);
    }),
    { numRuns },
  );
});

function approves(bytes: Uint8Array): boolean {
  const value: unknown = JSON.parse(Buffer.from(bytes).toString());
  const output = isObject(value) ? value['hookSpecificOutput'] : undefined;
  const decision = isObject(output) ? output['decision'] : undefined;
  return isObject(decision) && decision['behavior'] === 'allow';
}

test('exit code 2 never lets a guarded call pass [CC-6-02]', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const { output } = readAt('PreToolUse', left(bytes, { exitCode: 2, stderr: 'no' }));
      expect(['deny', 'abort']).toContain(output.verdict);
    }),
    { numRuns },
  );
});

test('any command and any rule is evaluated without an exception [CC-2-17]', () => {
  const shellish = fc
    .array(fc.constantFrom(...'ab $(){}`"\'\\;|&<>#\n*?['.split(''), 'rm ', '$X', '${A}', '&&'), {
      maxLength: 30,
    })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(shellish, shellish, (command, pattern) => {
      const question = questionAt('PreToolUse', { ...given['PreToolUse'], tool_input: { command } });
      const conditions = [`Bash(${pattern})`, 'Bash(rm *)', pattern];
      const judged = conditions.map((condition) =>
        claude.selects(seatAt('PreToolUse', { condition }), question),
      );
      expect(judged.map((each) => typeof each)).toEqual(conditions.map(() => 'boolean'));
    }),
    { numRuns },
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import { ask, conclude, left, questionAt, seatAt } from './asking.ts';

const keys = [
  'blockingError',
  'blocking_error',
  'hook_blocking_error',
  'preventContinuation',
  'continue',
  'decision',
];
const more = [
  'reason',
  'stopReason',
  'additionalContext',
  'hookSpecificOutput',
  'attachment_type',
  'payload',
  'messages',
];
const inner = [
  'permissionDecision',
  'updatedInput',
  'updatedToolOutput',
  'additionalContext',
  'force_continue',
];
const words = ['allow', 'deny', 'ask', 'defer', 'block', 'approve', 'hook_blocking_error', 'hook_success'];

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(...words, null, true, false, 0, '', []),
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom(...keys, ...more, ...inner), tie('value'), { maxKeys: 5 }),
  ),
}));
const bytes = fc.oneof(
  { arbitrary: value.map((each) => Buffer.from(JSON.stringify(each))), weight: 6 },
  { arbitrary: fc.uint8Array({ maxLength: 80 }), weight: 1 },
  { arbitrary: fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)), weight: 1 },
);
const points = fc.constantFrom(...Object.keys(agentao.points));
const exits = fc.constantFrom(0, 1, 2, 127, null);

test('any output of a rule is read as an answer or a refusal [AO-7-38@oneshot]', () => {
  fc.assert(
    fc.property(points, bytes, exits, (point, stdout, exit) => {
      const answer = ask({ point, reply: left(stdout, { exit }) });
      const question = questionAt(point);
      const told = agentao.report?.(question, { selected: 1, answer: conclude(question, [answer]).answer });
      expect(told).toHaveProperty('outcome');
    }),
    { numRuns: 1_000 },
  );
});

test('a failed process without an answer never passes without a report [AO-7-35@oneshot]', () => {
  const noAnswer = fc.oneof(
    fc.constantFrom('', ' ', '{}', '{"x":1}', 'text', '[]', '{"decision"'),
    fc.string().filter((text) => !text.includes('{')),
  );
  const decisive = fc.constantFrom('PreToolUse', 'PostToolUse');
  fc.assert(
    fc.property(decisive, noAnswer, fc.constantFrom(1, 2, 127, null), (point, stdout, exit) => {
      const { verdict, metadata } = ask({ point, reply: left(stdout, { exit }) });
      const closed = ask({
        point,
        reply: left(stdout, { exit }),
        seat: { ...seatAt(point), onFailure: 'deny' },
      });
      expect([verdict, metadata.text.includes('failed_open'), closed.verdict]).toEqual([
        'allow',
        true,
        'deny',
      ]);
    }),
    { numRuns: 500 },
  );
});

test('a blocking error is never ignored, whatever other members there are [AO-7-02@oneshot]', () => {
  const deciding = fc.constantFrom('UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure');
  const beside = fc.dictionary(fc.constantFrom(...keys, ...more), value, { maxKeys: 4 });
  const error = value.filter((each) => each !== null);
  fc.assert(
    fc.property(deciding, beside, error, exits, (point, others, blockingError, exit) => {
      const stdout = JSON.stringify({ ...others, blockingError });
      const { verdict } = ask({ point, reply: left(stdout, { exit }) });
      expect(['deny', 'abort']).toContain(verdict);
    }),
    { numRuns: 1_000 },
  );
});

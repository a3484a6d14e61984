import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { compileApproval } from '../../../src/calls/tool-call/approvals.ts';

const args = new Json('{"cents": 12345678901234567890, "who": "ann"}');

test('a tool that always needs approval says so, by its name, without a time limit', () => {
  const check = compileApproval('pay', {});
  expect(check.expiresMs).toBe(null);
  expect(check(args)).toEqual({
    reason: 'the config requires approval',
    message: 'Tool "pay" needs approval.',
    expiresMs: null,
  });
});

test.each([
  ['${args.cents > 10}', 'the config requires approval'],
  ['${args.cents < 10}', undefined],
  ['${true}', 'the config requires approval'],
  ['${false}', undefined],
  ['${args.who}', 'approval.when is "ann", neither true nor false'],
  ['${null}', 'approval.when is null, neither true nor false'],
  ['${0}', 'approval.when is 0, neither true nor false'],
  ['no', 'approval.when is "no", neither true nor false'],
  ['${args.nothing > 1}', expect.stringMatching(/^approval\.when failed: ./)],
])('%s: only false needs no person', (when, reason) => {
  const asked = compileApproval('pay', { when })(args);
  expect(asked?.reason).toEqual(reason);
  expect(asked === undefined).toBe(reason === undefined);
});

test.each([
  ['Pay ${args.cents} to ${args.who}?', 'Pay 12345678901234567890 to ann?'],
  ['${args}', '{"cents":12345678901234567890,"who":"ann"}'],
  ['${args.nothing}', expect.stringMatching(/^Tool "pay" needs approval \(its message failed: .+\)\.$/)],
])('%s is the person’s message', (message, told) => {
  const check = compileApproval('pay', { message, expiresMs: 5_000 });
  expect(check.expiresMs).toBe(5_000);
  expect(check(args)).toEqual({ reason: 'the config requires approval', message: told, expiresMs: 5_000 });
});

import { expect, test } from 'vitest';
import { type ErrorCode, isCancelled, RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { isCancelledAnswer, requireNotCancelled } from '../../../src/calls/capability/invoke.ts';
import { answers } from '../../../src/contract/hook.ts';

const reply = { via: 'rpc', result: new Json('1') } as const;
const aborted = AbortSignal.abort();
const live = new AbortController().signal;
const faultOf = (code: ErrorCode) => ({ code, message: '', hint: '', details: {} });

test.each([
  ['ABORTED', true],
  ['RUNTIME_CLOSED', true],
  ['PROCESS_TIMEOUT', false],
  ['SERVER_EXIT', false],
] as const)('%s is our own cancellation: %s', (code, isOurs) => {
  expect(isCancelled({ code })).toBe(isOurs);
  expect(isCancelledAnswer(answers.deny('', { error: faultOf(code) }))).toBe(isOurs);
  expect(isCancelledAnswer(answers.abort('', 'turn', { error: faultOf(code) }))).toBe(false);
});

test('a result without a fault was not cancelled', () => {
  expect(isCancelled(undefined)).toBe(false);
  expect(isCancelledAnswer(answers.deny(''))).toBe(false);
  expect(isCancelledAnswer(answers.allow())).toBe(false);
});

test('a reply and a peer’s failure pass unless the call was cancelled', () => {
  const failed = new RuntimeError('PROCESS_TIMEOUT', '');
  for (const signals of [{}, { signal: live, closing: live }]) {
    expect(requireNotCancelled(reply, signals)).toBe(reply);
    expect(requireNotCancelled(failed, signals)).toBe(failed);
  }
});

test.each([
  [{ signal: aborted }, 'ABORTED'],
  [{ closing: aborted }, 'RUNTIME_CLOSED'],
  [{ signal: aborted, closing: aborted }, 'ABORTED'],
] as const)('a result after a cancellation does not count as the peer’s: %#', (signals, code) => {
  for (const given of [reply, new RuntimeError('PROCESS_TIMEOUT', '')])
    expect(() => requireNotCancelled(given, signals)).toThrow(expect.objectContaining({ code }));
});

test.each(['ABORTED', 'RUNTIME_CLOSED'] as const)('%s is thrown unchanged', (code) => {
  const fault = new RuntimeError(code, '');
  expect(() => requireNotCancelled(fault, {})).toThrow(fault);
});

import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { isApproved, isSameJson } from '../../../src/calls/tool-call/before-execution.ts';
import type { CallableTool, CallPaused } from '../../../src/calls/tool-call/callable-tool.ts';
import { notifyPending, type PlannedCall, toPendingCall } from '../../../src/calls/tool-call/pending-call.ts';
import { answers } from '../../../src/contract/hook.ts';
import type { RunStatus } from '../../../src/contract/run.ts';
import { createHookContext } from '../../../src/contract/turn.ts';
import type { Point } from '../../../src/dialects/foreign-dialect.ts';
import {
  checkRunId,
  closedStoreError,
  decisionOfEndedRun,
  duplicateRunError,
  isEnded,
  missingRunError,
  unknownRunError,
  unusableStoreError,
} from '../../../src/store/store-rules.ts';
import { openPlayed } from '../hooks/played.ts';

const json = (text: string) => new Json(text);

test.each([
  ['{"a":1}', '{"a":1}', true],
  ['{"a":1}', ' {"a" : 1} ', true],
  ['{"a":1}', '{"a":2}', false],
  ['{"a":1}', '{"b":1}', false],
  ['{"a":12345678901234567890}', '{"a":12345678901234567891}', false],
])('%s and %s are the same JSON: %s', (one, other, same) => {
  expect(isSameJson(json(one), json(other))).toBe(same);
});

test('a hook has an approval only for its own question about these arguments', () => {
  const approvals = [
    { hook: 'a', args: json('{"n":1}') },
    { hook: 'b', args: json('{"n":2}') },
  ];
  const approved = (hook: string, args: string) => isApproved(approvals, hook, json(args));
  expect([approved('a', '{"n": 1}'), approved('b', '{"n":2}')]).toEqual([true, true]);
  expect([approved('a', '{"n":2}'), approved('b', '{"n":1}'), approved('c', '{"n":1}')]).toEqual(
    Array(3).fill(false),
  );
  expect(isApproved([], 'a', json('{}'))).toBe(false);
});

const outcome: CallPaused = {
  ...{ status: 'pending', origin: 'hook', hook: 'guard', args: json('{"n":1}'), reason: 'r', message: 'm' },
  ...{ members: json('{"x":1}'), expiresMs: 1_000 },
};

function planned(links: CallableTool['links'] = []): PlannedCall {
  const fits = () => [];
  const tool = { name: 'pay', port: undefined, checkArgs: fits, checkResult: fits, links };
  return { name: 'answer/pay', tool, args: { n: 1 }, callId: 'call_1' };
}

const pause = { runId: 'r1', outcome, round: 1, previous: null };

test('a waiting call is stored as it is to run, until it expires', () => {
  const { id, createdAt, expiresAt, ...rest } = toPendingCall(planned(), pause);
  expect(rest).toEqual({
    ...{ runId: 'r1', step: 'answer/pay', callId: 'call_1', tool: 'pay', args: json('{"n":1}') },
    ...{ origin: 'hook', hook: 'guard', reason: 'r', message: 'm', members: json('{"x":1}'), previous: null },
  });
  expect(id).toMatch(/^pending_[0-9a-f]{16}$/);
  expect(Math.abs(Date.now() - createdAt)).toBeLessThan(60_000);
  expect(expiresAt).toBe(createdAt + 1_000);
  const unlimited = { ...pause, outcome: { ...outcome, expiresMs: null } };
  expect(toPendingCall(planned(), unlimited).expiresAt).toBeNull();
});

test('its hooks are informed that the call waits', async () => {
  const { group, heard } = openPlayed();
  const told: Point = { order: 'serial', isFilter: false, composition: { verdict: 'first' } };
  const call = { ...planned([group('g', answers.allow(), { P: told })]), toolUseId: 'use_1' };
  await notifyPending(call, toPendingCall(call, pause), createHookContext('s1'));
  expect(heard).toEqual(['g told at P of call_1']);
});

test('its id is the same each time, and another for another run, step or round', () => {
  const idOf = (more: Partial<typeof pause> = {}, name = 'answer/pay') =>
    toPendingCall({ ...planned(), name }, { ...pause, ...more }).id;
  expect(idOf()).toBe(idOf());
  expect(new Set([idOf(), idOf({ runId: 'r2' }), idOf({ round: 2 }), idOf({}, 'other')]).size).toBe(4);
});

test.each(['completed', 'failed', 'denied', 'cancelled', 'running', 'pending'] as const)(
  'calls of a run that is %s are cancelled only by its end',
  (status: RunStatus) => {
    expect(isEnded(status)).toBe(status !== 'running' && status !== 'pending');
    expect(decisionOfEndedRun(status)).toEqual({
      ...{ kind: 'cancelled', by: 'signalbox', reason: `the run is ${status}` },
    });
  },
);

test.each(['a', '0', 'a.b_c-9', 'x'.repeat(128)])('%s is the id of a run', (id) => {
  expect(() => checkRunId(id)).not.toThrow();
});

test.each(['', '.', '-a', '_a', 'a/b', '../a', 'a b', 'a\n', '\na', 'x'.repeat(129), 'ä'])(
  '%j is none',
  (id) => {
    expect(() => checkRunId(id)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  },
);

test('each fault of the store has its code', () => {
  const codes = [unknownRunError, duplicateRunError, missingRunError].map((of) => of('r', 'db').code);
  expect(codes).toEqual(['RUN_UNKNOWN', 'STORE_FAILED', 'STORE_FAILED']);
  expect([closedStoreError('db').code, unusableStoreError('why').code]).toEqual(
    Array(2).fill('STORE_FAILED'),
  );
});

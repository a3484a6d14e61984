import { expect, test } from 'vitest';
import { Json } from '../../src/base/json/json.ts';
import type { PendingCall, PendingDecision, PendingRecord } from '../../src/contract/approval.ts';
import { ends, exactText, faultOf, hardStrings, newCall, newRun, type Open } from './examples.ts';

const approved = { kind: 'approved', args: null, by: 'ann', reason: 'fine' } satisfies PendingDecision;
const rejected = { kind: 'rejected', by: 'bob', reason: 'no' } satisfies PendingDecision;

const rulings: readonly PendingDecision[] = [
  approved,
  { kind: 'approved', args: new Json(exactText), by: 'ann', reason: '' },
  { kind: 'approved', args: new Json('null'), by: 'ann', reason: '' },
  rejected,
  { kind: 'responded', result: new Json(exactText), by: 'a\0b', reason: '\ud800' },
  { kind: 'expired' },
  { kind: 'cancelled', by: 'cy', reason: 'changed my mind' },
];

export function pendingContract(open: Open): void {
  const openWith = async (...calls: readonly PendingCall[]) => {
    const store = await open('r1', 'r2');
    for (const call of calls) await store.addPending(call);
    return store;
  };
  const asOpen = (call: PendingCall): PendingRecord => ({ ...call, ruling: null, decidedAt: null });

  test('a new pending call is stored unchanged and is open', async () => {
    const call = newCall('p1', 'r1', {
      args: new Json(exactText),
      members: new Json(exactText),
      origin: 'hook',
      hook: 'guard',
      previous: 'p0',
      expiresAt: 9_000,
    });
    const store = await openWith();
    expect(await store.addPending(call)).toEqual(asOpen(call));
    expect(await store.findPending('p1', 3_000)).toEqual(asOpen(call));
    expect(await store.listPendings({}, 3_000)).toEqual([asOpen(call)]);
  });

  test.each(hardStrings)('the string %j is stored unchanged', async (text) => {
    const call = newCall(`p${text}`, 'r1', {
      step: text,
      callId: text,
      tool: text,
      hook: text,
      reason: text,
      message: text,
      previous: text,
    });
    const store = await openWith(newCall('p1', 'r1'), call);
    expect(await store.findPending(call.id, 3_000)).toEqual(asOpen(call));
  });

  test('the first call with an id stays, decided or not', async () => {
    const store = await openWith(newCall('p1', 'r1'));
    const again = newCall('p1', 'r2', { tool: 'other' });
    expect(await store.addPending(again)).toEqual(asOpen(newCall('p1', 'r1')));
    await store.decide('p1', rejected, 3_000);
    expect(await store.addPending(again)).toEqual({
      ...newCall('p1', 'r1'),
      ruling: rejected,
      decidedAt: 3_000,
    });
    expect(await store.listPendings({}, 3_000)).toHaveLength(1);
  });

  test('a call of a missing run is not stored', async () => {
    const store = await openWith();
    expect((await faultOf(store.addPending(newCall('p1', 'r9')))).code).toBe('RUN_UNKNOWN');
    expect(await store.findPending('p1', 3_000)).toBeUndefined();
  });

  test.each(rulings)('the first decision stays and is returned unchanged: $kind', async (ruling) => {
    const store = await openWith(newCall('p1', 'r1'));
    const record = { ...newCall('p1', 'r1'), ruling, decidedAt: 3_000 };
    expect(await store.decide('p1', ruling, 3_000)).toEqual({ isAccepted: true, record });
    for (const other of rulings) {
      expect(await store.decide('p1', other, 4_000)).toEqual({ isAccepted: false, record });
    }
    expect(await store.findPending('p1', 5_000)).toEqual(record);
  });

  test('a decision about a missing call returns nothing', async () => {
    expect(await (await openWith()).decide('p1', approved, 3_000)).toBeUndefined();
  });

  test('one of many concurrent decisions wins, and all callers receive it', async () => {
    const store = await openWith(newCall('p1', 'r1'));
    const people = Array.from({ length: 20 }, (_, index) => `person ${index}`);
    const decided = await Promise.all(people.map((by) => store.decide('p1', { ...rejected, by }, 3_000)));
    expect(decided.filter((one) => one?.isAccepted)).toHaveLength(1);
    expect(new Set(decided.map((one) => JSON.stringify(one?.record))).size).toBe(1);
  });

  const due = newCall('p1', 'r1', { expiresAt: 5_000 });
  const expired: PendingRecord = { ...due, ruling: { kind: 'expired' }, decidedAt: 5_000 };

  test.each(rulings)('a decision at the moment of its expiry is refused: $kind', async (ruling) => {
    const store = await openWith(due);
    expect(await store.decide('p1', ruling, 5_000)).toEqual({ isAccepted: false, record: expired });
  });

  test('a call can be decided until just before its expiry', async () => {
    const store = await openWith(due);
    expect(await store.decide('p1', approved, 4_999)).toMatchObject({ isAccepted: true });
    expect(await store.findPending('p1', 9_000)).toMatchObject({ ruling: approved, decidedAt: 4_999 });
  });

  test('any reader applies an expiry, and a clock that goes back does not undo it', async () => {
    const store = await openWith(due);
    expect(await store.findPending('p1', 4_999)).toMatchObject({ ruling: null });
    expect(await store.findPending('p1', 6_000)).toEqual(expired);
    expect(await store.findPending('p1', 1)).toEqual(expired);
    expect(await store.decide('p1', approved, 1)).toEqual({ isAccepted: false, record: expired });
  });

  test('a list also applies expiries', async () => {
    const store = await openWith(due, newCall('p2', 'r1'));
    expect((await store.listPendings({ open: true }, 4_999)).map(({ id }) => id)).toEqual(['p1', 'p2']);
    expect((await store.listPendings({ open: true }, 5_000)).map(({ id }) => id)).toEqual(['p2']);
    expect(await store.listPendings({ open: false }, 1)).toEqual([expired]);
  });

  test('what waits is measured, and nothing is decided by that', async () => {
    const store = await openWith(
      newCall('p1', 'r1', { createdAt: 1_000, expiresAt: 5_000 }),
      newCall('p2', 'r1', { createdAt: 2_000 }),
      newCall('p3', 'r2', { createdAt: 500 }),
    );
    await store.decide('p3', approved, 3_000);
    expect(await store.measurePendings(4_999)).toEqual({ open: 2, overdue: 0, oldestMs: 3_999 });
    expect(await store.measurePendings(6_000)).toEqual({ open: 1, overdue: 1, oldestMs: 4_000 });
    expect(await store.measurePendings(4_000)).toEqual({ open: 2, overdue: 0, oldestMs: 3_000 });
    await store.decide('p1', approved, 4_500);
    await store.decide('p2', approved, 4_500);
    expect(await store.measurePendings(9_000)).toEqual({ open: 0, overdue: 0, oldestMs: 0 });
  });

  test('a run continues after an expiry if nothing else waits and the run has not ended', async () => {
    const store = await openWith(
      newCall('p1', 'r1', { expiresAt: 5_000 }),
      newCall('p2', 'r1'),
      newCall('p3', 'r2', { expiresAt: 6_000 }),
    );
    expect(await store.listExpired(4_999)).toEqual([]);
    expect(await store.listExpired(5_000)).toEqual([]);
    await store.decide('p2', approved, 5_500);
    expect(await store.listExpired(5_999)).toEqual(['r1']);
    expect(await store.listExpired(6_000)).toEqual(['r1', 'r2']);
    await store.setRunStatus('r1', { status: 'failed', at: 7_000 });
    expect(await store.listExpired(7_000)).toEqual(['r2']);
  });

  test('calls are listed in insertion order, whatever the clock says', async () => {
    const store = await openWith(
      newCall('p3', 'r1', { createdAt: 9 }),
      newCall('p1', 'r2', { createdAt: 2 }),
      newCall('p2', 'r1', { createdAt: 5 }),
    );
    await store.decide('p3', rejected, 10);
    const ids = async (filter: Parameters<typeof store.listPendings>[0]) =>
      (await store.listPendings(filter, 10)).map(({ id }) => id);
    expect(await ids({})).toEqual(['p3', 'p1', 'p2']);
    expect(await ids({ runId: 'r1' })).toEqual(['p3', 'p2']);
    expect(await ids({ runId: 'r1', open: true })).toEqual(['p2']);
    expect(await ids({ open: false })).toEqual(['p3']);
    expect(await ids({ runId: 'r9' })).toEqual([]);
  });

  test.each(ends)('the pending calls of a run are cancelled when the run is %s', async (status) => {
    const open = newCall('p2', 'r1', { expiresAt: 7_000 });
    const store = await openWith(due, open, newCall('p3', 'r1'), newCall('p4', 'r2'));
    await store.decide('p3', approved, 4_000);
    await store.setRunStatus('r1', { status, at: 6_000 });
    const ruling = { kind: 'cancelled', by: 'signalbox', reason: `the run is ${status}` };
    expect(await store.listPendings({}, 6_000)).toEqual([
      expired,
      { ...open, ruling, decidedAt: 6_000 },
      { ...newCall('p3', 'r1'), ruling: approved, decidedAt: 4_000 },
      asOpen(newCall('p4', 'r2')),
    ]);
    expect(await store.decide('p2', approved, 6_001)).toMatchObject({
      isAccepted: false,
      record: { ruling },
    });
  });

  test.each(['running', 'pending'] as const)('a %s run leaves its calls open', async (status) => {
    const store = await openWith(newCall('p1', 'r1'));
    await store.setRunStatus('r1', { status, at: 6_000 });
    expect(await store.findPending('p1', 6_000)).toEqual(asOpen(newCall('p1', 'r1')));
  });

  test('a call added after the end of its run is already cancelled', async () => {
    const store = await openWith();
    await store.setRunStatus('r1', { status: 'cancelled', at: 1_500 });
    const call = newCall('p1', 'r1');
    const ruling = { kind: 'cancelled', by: 'signalbox', reason: 'the run is cancelled' };
    expect(await store.addPending(call)).toEqual({ ...call, ruling, decidedAt: call.createdAt });
    expect(await store.listPendings({ open: true }, 3_000)).toEqual([]);
  });

  test('a call with a quorum requires approvals from that many different people [DS-QUORUM-01]', async () => {
    const call = newCall('p1', 'r1', { quorum: 3 });
    const store = await openWith(call);
    const by = (name: string, at: number, reason = '') =>
      store.decide('p1', { kind: 'approved', args: null, by: name, reason }, at);
    const consents = [{ by: 'ann\0', reason: 'json:"x"', at: 3_000 }];
    const open = { ...call, ruling: null, decidedAt: null };
    const first = { ...open, consents };
    expect(await by('ann\0', 3_000, 'json:"x"')).toEqual({ isAccepted: true, record: first });
    expect(await by('ann\0', 3_001)).toEqual({ isAccepted: true, record: first });
    expect(await store.listPendings({ open: true }, 3_002)).toEqual([first]);
    expect(await store.addPending(call)).toEqual(first);
    await by('bob', 3_003);
    const record = await by('cy', 3_004, 'last');
    const all = [...consents, { by: 'bob', reason: '', at: 3_003 }, { by: 'cy', reason: 'last', at: 3_004 }];
    const ruling = { kind: 'approved', args: null, by: 'cy', reason: 'last' };
    expect(record).toEqual({
      isAccepted: true,
      record: { ...call, consents: all, ruling, decidedAt: 3_004 },
    });
    expect(await store.findPending('p1', 3_005)).toEqual(record?.record);
    expect(await by('dan', 3_006)).toEqual({ isAccepted: false, record: record?.record });
  });

  test('of concurrent decisions that expect no other approvals, one is stored [DS-QUORUM-01]', async () => {
    const store = await openWith(newCall('p1', 'r1', { quorum: 4 }));
    const people = Array.from({ length: 8 }, (_, index) => `person ${index}`);
    const decided = await Promise.all(people.map((by) => store.decide('p1', { ...approved, by }, 3_000, 0)));
    expect(decided.filter((one) => one?.isAccepted)).toHaveLength(1);
    const [{ by: first = '' } = {}] = (await store.findPending('p1'))?.consents ?? [];
    // An approval that is repeated after a lost connection is the same one.
    expect(await store.decide('p1', { ...approved, by: first }, 3_000, 0)).toMatchObject({
      isAccepted: true,
    });
    expect(await store.decide('p1', { ...rejected, by: 'bob' }, 3_000, 0)).toMatchObject({
      isAccepted: false,
    });
    expect(await store.decide('p1', { ...rejected, by: 'bob' }, 3_000, 1)).toMatchObject({
      isAccepted: true,
    });
    expect(await store.decide('p9', approved, 3_000, 0)).toBeUndefined();
  });

  test('exactly one of many concurrent approvals completes a quorum [DS-QUORUM-01]', async () => {
    const store = await openWith(newCall('p1', 'r1', { quorum: 4 }));
    const names = ['ann', 'bob', 'ann', 'cy', 'bob', 'ann', 'dan', 'eve'];
    const made = await Promise.all(
      names.map((by) => store.decide('p1', { kind: 'approved', args: null, by, reason: '' }, 3_000)),
    );
    const found = await store.findPending('p1', 3_001);
    const voters = found?.consents?.map(({ by }) => by) ?? [];
    expect([found?.ruling?.kind, voters.length, new Set(voters).size]).toEqual(['approved', 4, 4]);
    const accepted = made.filter((each) => each?.isAccepted);
    // The last approval arrives after the decision and is refused.
    expect(made.length - accepted.length).toBe(1);
  });

  test('one rejection rejects a call with a quorum, and it expires like any other [DS-QUORUM-02]', async () => {
    const store = await openWith(
      newCall('p1', 'r1', { quorum: 2 }),
      newCall('p2', 'r1', { quorum: 2, expiresAt: 5_000 }),
    );
    for (const id of ['p1', 'p2']) await store.decide(id, approved, 3_000);
    expect(await store.decide('p1', rejected, 3_001)).toMatchObject({
      isAccepted: true,
      record: { ruling: rejected },
    });
    expect((await store.findPending('p2', 5_000))?.ruling).toEqual({ kind: 'expired' });
    expect(await store.listExpired(5_000)).toEqual(['r1']);
  });

  test('notices are stored with their events, by the rules of the run’s config, until they are removed [DS-NOTIFY-02]', async () => {
    const store = await open();
    const { outbox } = store;
    const events = ['pending', 'decided', 'completed', 'failed'] as const;
    const rules = events.map((event) => ({ target: 't1', event }));
    const { config } = newRun('r1');
    await outbox.setRules(config, [...rules, { target: 't2', event: 'failed' }]);
    await outbox.setRules('/other.yaml', [{ target: 't3', event: 'pending' }]);
    for (const id of ['r1', 'r2']) await store.createRun(newRun(id));
    const at = Date.now();
    await store.addPending(newCall('p1', 'r1'));
    await store.addPending(newCall('p1', 'r1'));
    await store.decide('p1', approved, 3_000);
    await store.setRunStatus('r1', { status: 'completed', at: 4_000 });
    await store.setRunStatus('r1', { status: 'completed', at: 5_000 });
    await store.setRunStatus('r2', { status: 'denied', at: 6_000 });
    expect(await outbox.nextDue(['t1'], at)).toBe(0);
    expect(await outbox.take(['t3'], at, { leaseMs: 1, limit: 9 })).toEqual([]);
    const options = { leaseMs: 60_000, limit: 3 };
    const [first, second] = await Promise.all([
      outbox.take(['t1'], at, options),
      outbox.take(['t1'], at, options),
    ]);
    const taken = [...(first ?? []), ...(second ?? [])].toSorted((one, other) => one.seq - other.seq);
    expect(
      taken.map(({ runId, event, pendingId, attempts }) => `${runId} ${event} ${pendingId} ${attempts}`),
    ).toEqual(['r1 pending p1 1', 'r1 decided p1 1', 'r1 completed null 1', 'r2 failed null 1']);
    expect(await outbox.take(['t1'], at, options)).toEqual([]);
    const left = await outbox.nextDue(['t1'], at);
    expect(left).toBeGreaterThan(1_000);
    const [one, ...others] = taken;
    await outbox.postpone(one?.seq ?? 0, at, 0);
    for (const { seq } of others) await outbox.remove(seq);
    expect(await outbox.take(['t1'], at + 10, options)).toEqual([{ ...one, attempts: 2 }]);
    expect(await outbox.take(['t2'], at, options)).toMatchObject([{ runId: 'r2', event: 'failed' }]);
    await outbox.setRules(config, []);
    await store.createRun(newRun('r3'));
    await store.setRunStatus('r3', { status: 'failed', at: 7_000 });
    await store.prune(8_000);
    expect(await outbox.nextDue(['t1', 't2'], at)).toBeUndefined();
  });
}

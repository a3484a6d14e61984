import { expect, test } from 'vitest';
import { AGENT_SOURCE } from '../../src/store/store-rules.ts';
import type { Suspension } from '../../src/store/suspension.ts';
import { newCall, newRun, type Open } from './examples.ts';

const fault: Suspension = {
  ...{ why: 'fault', since: 2, dueAt: 100, tries: 1, step: 'a/call', waitsForCalls: false },
  error: { code: 'SERVER_EXIT', message: 'it died', hint: 'wait' },
};
const wait: Suspension = { ...fault, why: 'wait', tries: 0, step: '', error: null };

export function suspensionContract(open: Open): void {
  test('a run that a fault suspended is so in every list, and how often it was tried counts on while it is executed again [DS-SUSPEND-01]', async () => {
    const store = await open('r1');
    expect(await store.setRunStatus('r1', { status: 'suspended', suspension: fault, at: 2 })).toBe(true);
    expect(await store.findRun('r1')).toMatchObject({ status: 'suspended', suspension: fault });
    const idsOf = async (status: 'suspended' | 'pending' | 'waiting') =>
      (await store.summarizeRuns({ status }, 3)).map(({ id, suspension }) => [id, suspension]);
    expect(await idsOf('suspended')).toEqual([['r1', fault]]);
    expect([await idsOf('pending'), await idsOf('waiting')]).toEqual([[], []]);
    await store.setRunStatus('r1', { status: 'running', at: 4 });
    expect(await store.findRun('r1')).toMatchObject({ status: 'running', suspension: { tries: 1 } });
    await store.setRunStatus('r1', { status: 'pending', at: 5 });
    expect(await store.findRun('r1')).not.toHaveProperty('suspension');
  });

  test('a run is due when its pause is over, or before where that is asked for [DS-WORK-01]', async () => {
    const store = await open('r1');
    await store.setRunStatus('r1', { status: 'suspended', suspension: fault, at: 2 });
    expect(await store.listDue({ at: 99 })).toEqual({ runs: [], nextAt: 100 });
    const due = { runs: [{ id: 'r1', why: 'fault' }], nextAt: undefined };
    expect(await store.listDue({ at: 100 })).toEqual(due);
    expect((await store.listDue({ at: 3, withFaults: true })).runs).toEqual(due.runs);
    expect((await store.listDue({ at: 100, id: 'r2' })).runs).toEqual([]);
    await store.setRunStatus('r1', { status: 'failed', at: 101 });
    expect(await store.listDue({ at: 200 })).toEqual({ runs: [], nextAt: undefined });
  });

  test('a run with calls of an agent is never due', async () => {
    const store = await open();
    await store.createRun(newRun('r1', { source: AGENT_SOURCE }));
    expect((await store.listDue({ at: 2, withFaults: true })).runs).toEqual([]);
    await store.addPending(newCall('p1', 'r1'));
    await store.setRunStatus('r1', { status: 'pending', at: 2 });
    await store.decide('p1', { kind: 'approved', args: null, by: 'ada', reason: '' }, 3);
    expect(await store.listDue({ at: 4, withFaults: true })).toEqual({ runs: [], nextAt: undefined });
  });

  test('a run that waits is due when the time is over, and one that waits for calls too when they are decided [DS-WORK-02]', async () => {
    const store = await open('r1', 'r2');
    await store.setRunStatus('r1', { status: 'waiting', suspension: wait, at: 2 });
    await store.addPending(newCall('p1', 'r2'));
    await store.setRunStatus('r2', {
      status: 'pending',
      suspension: { ...wait, dueAt: 500, waitsForCalls: true },
      at: 2,
    });
    expect((await store.findRun('r1'))?.status).toBe('waiting');
    expect((await store.findRun('r2'))?.status).toBe('pending');
    expect((await store.listDue({ at: 99 })).runs).toEqual([]);
    await store.decide('p1', { kind: 'rejected', by: 'ada', reason: '' }, 3);
    expect((await store.listDue({ at: 99 })).runs).toEqual([{ id: 'r2', why: 'decided' }]);
    expect((await store.listDue({ at: 100 })).runs.map(({ id }) => id)).toEqual(['r1', 'r2']);
  });
}

import { describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { newCall, newRun } from './examples.ts';

const kin = { id: 'root', root: 'root', step: 'refund' };
const approved = { kind: 'approved', args: null, by: 'ada', reason: '' } as const;

export function belowContract(name: string, open: () => Promise<Store>): void {
  const openFamily = async () => {
    const store = await open();
    onTestFinished(() => store.close());
    await store.createRun(newRun('root', { pipelines: { '/a.yaml': 'a\0é', '/b.yaml': '' } }));
    await store.createRun(newRun('child', { source: '', parent: kin }));
    await store.createRun(newRun('other', { createdAt: 2_000 }));
    return store;
  };
  describe(`runs below others in the ${name} store`, () => {
    test('a nested run stores its parent, and the root run stores the texts of all nested pipelines', async () => {
      const store = await openFamily();
      expect((await store.findRun('child'))?.parent).toEqual(kin);
      expect((await store.findRun('root'))?.pipelines).toEqual({ '/a.yaml': 'a\0é', '/b.yaml': '' });
      expect(await store.findRun('other')).not.toHaveProperty('parent');
    });

    test('lists leave nested runs out by default', async () => {
      const store = await openFamily();
      const ids = async (filter: Parameters<Store['summarizeRuns']>[0]) =>
        (await store.summarizeRuns(filter, 3_000)).map(({ id }) => id);
      expect(await ids({})).toEqual(['other', 'root']);
      expect(await ids({ all: true })).toEqual(['other', 'child', 'root']);
      expect(await ids({ parent: 'root' })).toEqual(['child']);
      expect(await ids({ root: 'root', status: 'pending' })).toEqual([]);
      expect(await ids({ parent: 'other' })).toEqual([]);
    });

    test('their pending calls belong to the root run and are listed with its own', async () => {
      const store = await openFamily();
      await store.addPending(newCall('p1', 'child'));
      await store.addPending(newCall('p2', 'root'));
      const found = async (below: boolean) =>
        (await store.listPendings({ runId: 'root', below }, 3_000)).map(({ id }) => id);
      expect([await found(true), await found(false)]).toEqual([['p1', 'p2'], ['p2']]);
      const [, root] = await store.summarizeRuns({}, 3_000);
      expect(root?.open).toBe(2);
      expect((await store.decide('p1', approved, 3_000))?.record.parent).toEqual(kin);
    });

    test.each([
      ['cancelled', 'cancelled'],
      ['failed', 'failed'],
    ] as const)(
      'when the outermost run is %s, what has not ended below it is %s, and its calls are decided',
      async (end, becomes) => {
        const store = await openFamily();
        await store.createRun(newRun('done', { parent: { ...kin, step: 'done' } }));
        await store.setRunStatus('done', { status: 'completed', at: 2_000 });
        await store.addPending(newCall('p1', 'child'));
        await store.setRunStatus('root', { status: end, at: 3_000 });
        expect(await store.findRunStatus('child')).toBe(becomes);
        expect(await store.findRunStatus('done')).toBe('completed');
        expect((await store.findPending('p1', 4_000))?.ruling?.kind).toBe('cancelled');
        expect(await store.findRunStatus('other')).toBe('running');
      },
    );

    test('they are removed together with the root run, never earlier', async () => {
      const store = await openFamily();
      await store.setRunStatus('child', { status: 'completed', at: 2_000 });
      expect(await store.prune(10_000)).toBe(0);
      await store.setRunStatus('root', { status: 'completed', at: 3_000 });
      expect(await store.prune(10_000)).toBe(1);
      expect(await store.findRun('child')).toBeUndefined();
      expect(await store.listPendings({}, 3_000)).toEqual([]);
    });

    test('nobody is told of their end, and of the calls that wait in them somebody is', async () => {
      const store = await openFamily();
      const { config } = newRun('root');
      const rules = (['pending', 'completed'] as const).map((event) => ({ event, target: 't' }));
      await store.outbox.setRules(config, rules);
      await store.addPending(newCall('p1', 'child'));
      await store.setRunStatus('child', { status: 'completed', at: 3_000 });
      await store.setRunStatus('other', { status: 'completed', at: 3_000 });
      const notices = await store.outbox.take(['t'], Date.now(), { leaseMs: 1_000, limit: 9 });
      expect(notices.map(({ event, runId }) => `${event} ${runId}`)).toEqual([
        'pending child',
        'completed other',
      ]);
    });

    test('they are never due themselves; the root run is due once all calls below it are decided [DS-WITHIN-06]', async () => {
      const store = await openFamily();
      await store.setRunStatus('other', { status: 'completed', at: 2_000 });
      expect((await store.listDue({ at: 2_000 })).runs).toEqual([{ id: 'root', why: 'running' }]);
      await store.addPending(newCall('p1', 'child'));
      for (const id of ['child', 'root']) await store.setRunStatus(id, { status: 'pending', at: 2_000 });
      expect((await store.listDue({ at: 2_000 })).runs).toEqual([]);
      await store.decide('p1', approved, 3_000);
      expect((await store.listDue({ at: 3_000 })).runs).toEqual([{ id: 'root', why: 'decided' }]);
      expect((await store.listDue({ at: 3_000, id: 'child' })).runs).toEqual([]);
    });

    test('a fault in them is told and due once, of the outermost run [DS-WITHIN-01]', async () => {
      const store = await openFamily();
      await store.outbox.setRules(newRun('root').config, [{ event: 'suspended', target: 't' }]);
      await store.setRunStatus('other', { status: 'completed', at: 2_000 });
      const suspension = {
        ...({ why: 'fault', since: 2_000, dueAt: 9_000, tries: 1, step: 'a', waitsForCalls: false } as const),
        error: { code: 'SERVER_EXIT', message: 'it died', hint: '' },
      } as const;
      const setDown = { status: 'suspended', suspension, at: 2_000 } as const;
      await store.setRunStatus('child', { ...setDown, suspension: { ...suspension, dueAt: 5_000 } });
      await store.setRunStatus('root', setDown);
      expect(await store.findRun('child')).toMatchObject({
        status: 'suspended',
        suspension: { dueAt: 5_000 },
      });
      expect(await store.listDue({ at: 4_000 })).toEqual({ runs: [], nextAt: 9_000 });
      expect((await store.listDue({ at: 9_000 })).runs).toEqual([{ id: 'root', why: 'fault' }]);
      expect((await store.summarizeRuns({ status: 'suspended' }, 4_000)).map(({ id }) => id)).toEqual([
        'root',
      ]);
      const notices = await store.outbox.take(['t'], Date.now(), { leaseMs: 1_000, limit: 9 });
      expect(notices.map(({ event, runId }) => `${event} ${runId}`)).toEqual(['suspended root']);
      await store.setRunStatus('root', { status: 'cancelled', at: 5_000 });
      expect(await store.findRunStatus('child')).toBe('cancelled');
    });

    test('a nested run is not listed after the expiry of its call', async () => {
      const store = await openFamily();
      await store.addPending(newCall('p1', 'child', { expiresAt: 2_500 }));
      expect(await store.listExpired(Date.now())).toEqual([]);
    });
  });
}

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres-store.ts';
import type { Job, SharedWork, WorkerRecord } from '../../../src/store/shared-work.ts';
import type { Store } from '../../../src/store/store.ts';
import { newCall, newRun } from '../examples.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './server.ts';

const approved = { kind: 'approved', args: null, by: 'ada', reason: '' } as const;

describe.runIf(hasPostgres)(`runs that workers take${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const openWork = async (url?: string) => {
    const address = url ?? (await server.newUrl());
    const store = await openPostgresStore(addressOf(address));
    onTestFinished(() => store.close());
    const jobs: Job[] = [];
    store.work?.announceBy(async (given) => {
      jobs.push(...given);
      return true;
    });
    return { url: address, store, work: requireWork(store), jobs };
  };
  const isReady = async (url: string, id: string) => {
    const [row] = await server.ask(
      `SELECT ready FROM signalbox.runs WHERE id = '${id}'`,
      new URL(url).pathname.slice(1),
    );
    return row?.['ready'];
  };
  const suspend = async (
    store: Store,
    id: string,
    calls: readonly string[],
    expiresAt: number | null = null,
  ) => {
    await store.createRun(newRun(id, { build: 'b1' }));
    for (const call of calls) await store.addPending(newCall(call, id, { expiresAt }));
    await store.setRunStatus(id, { status: 'pending', at: 2_000 });
  };

  test('a run is ready when the last call below it is decided, and a nested run never is', async () => {
    const { url, store, jobs } = await openWork();
    await store.createRun(newRun('root', { build: 'b1' }));
    const parent = { id: 'root', root: 'root', step: 'refund' };
    await store.createRun(newRun('child', { parent }));
    await store.addPending(newCall('a', 'child'));
    await store.addPending(newCall('b', 'root'));
    await store.setRunStatus('child', { status: 'pending', at: 2_000 });
    await store.setRunStatus('root', { status: 'pending', at: 2_000 });
    await store.decide('b', approved, 3_000);
    expect([await isReady(url, 'root'), jobs]).toEqual([false, []]);
    await store.decide('a', approved, 3_000);
    expect([await isReady(url, 'root'), await isReady(url, 'child')]).toEqual([true, false]);
    expect(jobs).toEqual([{ kind: 'run', id: 'root', queue: 'b1' }]);
  });

  test('a process that lost the claim of a run writes nothing below it', async () => {
    const { url, store } = await openWork();
    const other = await openWork(url);
    await store.createRun(newRun('root'));
    await store.createRun(newRun('child', { parent: { id: 'root', root: 'root', step: 'refund' } }));
    const claim = await store.claimRun('root');
    const covered = store.coverRun('child', 'root');
    await store.beginStep('child', 'pay', 1);
    await server.ask("DELETE FROM signalbox.claims WHERE run_id = 'root'", new URL(url).pathname.slice(1));
    await expect(store.beginStep('child', 'pay', 2)).rejects.toMatchObject({ code: 'STORE_FAILED' });
    await covered.release();
    await claim?.release();
    await other.store.beginStep('child', 'pay', 3);
    expect((await other.store.listSteps('child')).map(({ attempts }) => attempts)).toEqual([2]);
  });

  test('two concurrent decisions make a run ready, whichever is last', async () => {
    const one = await openWork();
    const other = await openWork(one.url);
    for (let index = 0; index < 60; index += 1) {
      const id = `r${index}`;
      await suspend(one.store, id, [`${id}-a`, `${id}-b`]);
      await Promise.all([
        one.store.decide(`${id}-a`, approved, 3_000),
        other.store.decide(`${id}-b`, approved, 3_000),
      ]);
      expect([id, await isReady(one.url, id)]).toEqual([id, true]);
    }
    expect(one.jobs.length + other.jobs.length).toBe(60);
  });

  test('a run is ready when its last call is decided or expires, even while it was suspended, and not once it continues', async () => {
    const { url, store, work, jobs } = await openWork();
    await suspend(store, 'open', ['c1', 'c2']);
    await store.decide('c1', approved, 3_000);
    expect([await isReady(url, 'open'), jobs]).toEqual([false, []]);
    await store.decide('c2', approved, 3_000);
    expect([await isReady(url, 'open'), jobs]).toEqual([true, [{ kind: 'run', id: 'open', queue: 'b1' }]]);
    expect(await work.adopt(['open', 'nothing'])).toEqual(['open']);
    await store.setRunStatus('open', { status: 'running', at: 4_000 });
    expect(await isReady(url, 'open')).toBe(false);
    // Milliseconds after its creation.
    await suspend(store, 'expiring', ['c3'], 2_000);
    await store.listPendings({}, 3_000);
    expect(await isReady(url, 'expiring')).toBe(true);
    await store.createRun(newRun('early', { build: 'b1' }));
    await store.addPending(newCall('c4', 'early'));
    await store.decide('c4', approved, 3_000);
    expect(await isReady(url, 'early')).toBe(false);
    await store.setRunStatus('early', { status: 'pending', at: 4_000 });
    expect(await isReady(url, 'early')).toBe(true);
  });

  test('a run without a build, and one whose call is stored after it, belong to no worker', async () => {
    const { url, store, jobs } = await openWork();
    await store.createRun(newRun('old'));
    await store.addPending(newCall('c1', 'old'));
    await store.setRunStatus('old', { status: 'pending', at: 2_000 });
    await store.decide('c1', approved, 3_000);
    await suspend(store, 'direct', []);
    expect([await isReady(url, 'old'), await isReady(url, 'direct'), jobs]).toEqual([false, false, []]);
  });

  test('a sweep announces free runs of a worker’s builds once a second and again after a minute', async () => {
    const { url, store, work, jobs } = await openWork();
    const database = new URL(url).pathname.slice(1);
    const later = () => server.ask("UPDATE signalbox.sweeps SET swept_at = '-infinity'", database);
    store.work?.announceBy(async () => false);
    for (const [id, build] of [
      ['lost', 'b1'],
      ['held', 'b1'],
      ['foreign', 'b2'],
    ] as const)
      await store.createRun(newRun(id, { build, isDispatched: true }));
    store.work?.announceBy(async (given) => {
      jobs.push(...given);
      return true;
    });
    expect([await work.sweep(), jobs]).toEqual([{ hasRun: true, announced: 0 }, []]);
    await work.beat(worker('w1', ['b1']));
    const claim = await store.claimRun('held');
    expect((await work.sweep()).hasRun).toBe(false);
    await later();
    expect([await work.sweep(), jobs.map(({ id }) => id)]).toEqual([
      { hasRun: true, announced: 1 },
      ['lost'],
    ]);
    await claim?.release();
    await later();
    await work.sweep();
    await later();
    await work.sweep();
    expect(jobs.map(({ id }) => id)).toEqual(['lost', 'held']);
    await server.ask(
      "UPDATE signalbox.runs SET announced_at = clock_timestamp() - interval '61 s'",
      database,
    );
    await later();
    expect((await work.sweep()).announced).toBe(2);
    expect((await store.summarizeRuns({}, 9_000)).map(({ id, lacksWorker }) => [id, lacksWorker])).toEqual([
      ['foreign', true],
      ['held', undefined],
      ['lost', undefined],
    ]);
  });

  test('a decision is stored even if it cannot be announced, and a failed decision is not announced', async () => {
    const { store, work, url } = await openWork();
    work.announceBy(async () => false);
    await suspend(store, 'r1', ['c1']);
    expect((await store.decide('c1', approved, 3_000))?.isAccepted).toBe(true);
    expect((await store.decide('c1', approved, 3_000))?.isAccepted).toBe(false);
    expect(await isReady(url, 'r1')).toBe(true);
    await expect(work.transact(async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await work.listWorkers()).toEqual([]);
  });
});

function requireWork({ work }: Store): SharedWork {
  if (work === undefined) throw new Error('it is a store of one machine');
  return work;
}

function worker(id: string, builds: readonly string[]): WorkerRecord {
  return { id, builds, machine: 'here', pid: 1, version: '0', concurrency: 1, busy: 0, isDraining: false };
}

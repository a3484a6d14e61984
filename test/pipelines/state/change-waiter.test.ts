import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openChangeWaiter } from '../../../src/pipelines/state/change-waiter.ts';
import { memoryFile } from '../../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { newCall, newRun } from '../../store/examples.ts';
import { newFile, openAt, start } from '../../store/processes.ts';
import { mayLimitWatches, withoutWatches } from '../../store/watches.ts';

const never = new AbortController().signal;
const idleMs = 3_600_000;
const approval = { kind: 'approved', args: null, by: 'mara', reason: '' } as const;

async function withCall(store: Store): Promise<Store> {
  await store.createRun(newRun('r1'));
  await store.addPending(newCall('p1', 'r1'));
  return store;
}

test('another process’s decision ends the wait long before the next poll', {
  timeout: 60_000,
}, async () => {
  const file = newFile();
  const store = await withCall(await openAt(file));
  const waiter = openChangeWaiter(store, never, { idleMs });
  const actor = start(['decide', file, 'p1', 'mara']);
  await actor.next();
  actor.go();
  // Claims and sweeps of others may also wake it; only the decision counts.
  while ((await store.findPending('p1', 1))?.ruling === null) await waiter.next(undefined);
  expect(await store.findPending('p1', 1)).toMatchObject({ ruling: { by: 'mara' } });
  waiter.close();
});

test('a decision in memory ends the wait', async () => {
  const store = await withCall(await openSqliteStore(memoryFile));
  const waiter = openChangeWaiter(store, never, { idleMs });
  const waiting = waiter.next(undefined);
  await store.decide('p1', approval, 1);
  await expect(waiting).resolves.toBeUndefined();
  waiter.close();
});

test('a change between two polls causes a poll', async () => {
  const store = await withCall(await openSqliteStore(memoryFile));
  const waiter = openChangeWaiter(store, never, { idleMs });
  await store.decide('p1', approval, 1);
  await expect(waiter.next(undefined)).resolves.toBeUndefined();
  waiter.close();
});

test('an expiry and an abort end the wait', async () => {
  const waiter = openChangeWaiter(await openSqliteStore(memoryFile), never, { idleMs });
  await waiter.next(Date.now() + 50);
  waiter.close();
  const giveUp = new AbortController();
  const other = openChangeWaiter(await openSqliteStore(memoryFile), giveUp.signal, { idleMs });
  const waiting = other.next(undefined);
  giveUp.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
  other.close();
});

test('polls become rare while nothing changes', async () => {
  const file = newFile();
  const store = await withCall(await openAt(file));
  const waiter = openChangeWaiter(store, never, { idleMs });
  // Recent writes may still be reported.
  await sleep(500);
  let looks = 0;
  const looking = (async () => {
    for (;;) {
      await waiter.next(undefined);
      looks += 1;
    }
  })();
  await sleep(1_500);
  expect(looks).toBeLessThanOrEqual(3);
  waiter.close();
  void looking;
});

test('a notice that precedes its data is read a moment later', async () => {
  let tell = () => {};
  const watched = {
    watch: (onChange: () => void) => {
      tell = onChange;
      return { isLive: () => true, close: () => {} };
    },
  };
  const waiter = openChangeWaiter(watched, never, { idleMs });
  tell();
  await waiter.next(undefined);
  // Resolves before the hour is over, without a further change.
  await expect(waiter.next(undefined)).resolves.toBeUndefined();
  waiter.close();
});

test('a store with constant writes is polled at most four times a second', async () => {
  const watchers = new Set<() => void>();
  const watched = {
    watch: (tell: () => void) => {
      watchers.add(tell);
      return { isLive: () => true, close: () => watchers.clear() };
    },
  };
  const waiter = openChangeWaiter(watched, never, { idleMs });
  const storm = setInterval(() => {
    for (const tell of watchers) tell();
  }, 1);
  const before = performance.now();
  for (let look = 0; look < 4; look += 1) await waiter.next(undefined);
  expect(performance.now() - before).toBeGreaterThan(600);
  clearInterval(storm);
  waiter.close();
});

test('polling replaces a watch that cannot be set', async () => {
  const blind = { watch: () => ({ isLive: () => false, close: () => {} }) };
  const waiter = openChangeWaiter(blind, never, { idleMs });
  await expect(waiter.next(undefined)).resolves.toBeUndefined();
  waiter.close();
});

test.runIf(mayLimitWatches)('a run also continues if the machine has no watches left', async () => {
  const file = newFile();
  const store = await withCall(await openAt(file));
  const script = `
    import { openChangeWaiter } from '${import.meta.dirname}/../../../src/pipelines/state/change-waiter.ts';
    import { openSqliteStore } from '${import.meta.dirname}/../../../src/store/sqlite-store.ts';
    const store = await openSqliteStore(process.argv[1]);
    const watch = store.watch(() => {});
    console.log(watch.isLive() ? 'watches' : 'looks');
    const waiter = openChangeWaiter(store, new AbortController().signal, {idleMs: ${idleMs}});
    while ((await store.findPending('p1', 1)).ruling === null) await waiter.next(undefined);
    console.log('decided');
    waiter.close();
    await store.close();`;
  const [command = '', ...args] = [
    ...withoutWatches(),
    process.execPath,
    '--input-type=module',
    '-e',
    script,
    file,
  ];
  const said = new Promise<string>((done) => {
    execFile(command, args, (error, stdout, stderr) => done(error === null ? stdout : `${stdout}${stderr}`));
  });
  await sleep(300);
  await store.decide('p1', approval, 1);
  expect(await said).toBe('looks\ndecided\n');
});

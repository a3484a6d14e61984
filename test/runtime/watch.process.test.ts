import { execFile } from 'node:child_process';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Change, openRuntime, type Runtime, type WatchKind } from '../../src/index.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { newCall, newRun } from '../store/examples.ts';
import {
  addressOf,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { start } from '../store/processes.ts';
import { mayLimitWatches, withoutWatches } from '../store/watches.ts';
import { workspace } from '../workspace.ts';

const all: readonly WatchKind[] = ['pendings', 'runs', 'suites'];

interface Place {
  readonly spec: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The argument of an actor. */
  place(folder: string): string;
  openStore(folder: string): Promise<Store>;
}

interface Desk {
  readonly runtime: Runtime;
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  /** Another connection, as that of another process. */
  readonly store: Store;
  /** Makes changes in another process, and resolves when they are made. */
  change(what: WatchKind, count?: number): Promise<void>;
}

type Open = () => Promise<Place>;

async function openDesk(open: Open): Promise<Desk> {
  const place = await open();
  const folder = workspace(place.spec);
  const file = join(folder, 'runtime.yaml');
  const env = { ...process.env, ...place.env };
  const runtime = await openRuntime(file, { log: false, env });
  const store = await place.openStore(folder);
  await store.createRun(newRun('r1'));
  onTestFinished(async () => {
    await runtime.close();
    await store.close();
  });
  const change = async (what: WatchKind, count = 1) => {
    const actor = start(['change', place.place(folder), what, `${count}`]);
    await actor.next();
    actor.go();
    expect(await actor.rest()).toEqual(['done']);
  };
  return { runtime, file, env, store, change };
}

/** Begins a watch, and takes its first item. */
async function watch(runtime: Runtime, kinds: readonly WatchKind[] = all, signal?: AbortSignal) {
  const changes = runtime.watch(kinds, { signal })[Symbol.asyncIterator]();
  onTestFinished(async () => void (await changes.return?.()));
  expect(await changes.next()).toEqual({ done: false, value: { kinds } });
  return changes;
}

const over = { done: true, value: undefined };
const only = (...kinds: readonly WatchKind[]) => ({ done: false, value: { kinds } });

/** Whether the promise is still pending after everything that may be late has happened. */
async function isStillWaiting(next: Promise<unknown>, ms = 1_500): Promise<boolean> {
  return await Promise.race([next.then(() => false), sleep(ms, true)]);
}

const slow = { timeout: 120_000 };

function watchTests(open: Open): void {
  test('changes of another process are seen, each with its kind', slow, async () => {
    const { runtime, store, change } = await openDesk(open);
    const changes = await watch(runtime);
    for (const kind of ['pendings', 'runs', 'suites', 'runs'] as const) {
      const next = changes.next();
      await change(kind);
      expect(await next).toEqual(only(kind));
    }
    await store.addPending(newCall('p1', 'r1', { quorum: 2 }));
    expect(await changes.next()).toEqual(only('pendings'));
    const approval = { kind: 'approved', args: null, reason: '' } as const;
    await store.decide('p1', { ...approval, by: 'mara' }, 3_000);
    expect(await changes.next()).toEqual(only('pendings'));
    await store.decide('p1', { ...approval, by: 'joe' }, 3_000);
    expect(await changes.next()).toEqual(only('pendings'));
    await store.setRunStatus('r1', { status: 'completed', at: 3_000 });
    // The end of a run decides its open calls.
    expect(await changes.next()).toEqual(only('pendings', 'runs'));
    await store.prune(4_000);
    expect(await changes.next()).toMatchObject({ value: { kinds: expect.arrayContaining(['runs']) } });
  });

  test('changes of this runtime are seen too', slow, async () => {
    const { runtime, store } = await openDesk(open);
    await store.addPending(newCall('p1', 'r1'));
    const changes = await watch(runtime);
    const next = changes.next();
    await runtime.pending.reject('p1', { by: 'mara', reason: 'no' });
    expect(await next).toEqual(only('pendings'));
  });

  test('a thousand changes are reported a few times, and the last one is not missed', slow, async () => {
    const { runtime, change } = await openDesk(open);
    const changes = await watch(runtime, ['pendings']);
    const from = performance.now();
    void change('pendings', 1_000);
    let reports = 0;
    for (let total = 0; total < 1_000; reports++) {
      expect(await changes.next()).toEqual(only('pendings'));
      ({ total } = await runtime.pending.counts());
    }
    expect(reports).toBeLessThanOrEqual(Math.ceil((performance.now() - from) / 250) + 1);
    expect(await isStillWaiting(changes.next())).toBe(true);
  });

  test('reads and writes of other kinds are no changes', slow, async () => {
    const { runtime, store, change } = await openDesk(open);
    await store.addPending(newCall('p1', 'r1'));
    const changes = await watch(runtime, ['pendings']);
    const next = changes.next();
    await change('runs');
    await change('suites');
    await store.beginStep('r1', 's1', 1);
    for (let round = 0; round < 5; round++) {
      await runtime.pending.list({ all: true });
      await runtime.pending.page();
      await runtime.runs.list();
      await sleep(100);
    }
    expect(await isStillWaiting(next)).toBe(true);
  });

  test('a slow reader gets one item with everything that changed meanwhile', slow, async () => {
    const { runtime, store } = await openDesk(open);
    const changes = await watch(runtime);
    for (let round = 0; round < 3; round++) {
      await store.addPending(newCall(`p${round}`, 'r1'));
      await store.createRun(newRun(`r${round + 2}`));
      await sleep(400);
    }
    expect(await changes.next()).toEqual(only('pendings', 'runs'));
    expect(await isStillWaiting(changes.next())).toBe(true);
  });

  test('two watchers see the same change, and one that leaves does not end the other', slow, async () => {
    const { runtime, store } = await openDesk(open);
    const [one, other] = [await watch(runtime), await watch(runtime)];
    await store.createRun(newRun('r2'));
    expect(await Promise.all([one.next(), other.next()])).toEqual([only('runs'), only('runs')]);
    const waiting = one.next();
    await one.return?.();
    expect(await waiting).toEqual(over);
    await store.createRun(newRun('r3'));
    expect(await other.next()).toEqual(only('runs'));
    expect(await one.next()).toEqual(over);
  });

  test('an abort, a break and a closed runtime end the watch', slow, async () => {
    const { runtime } = await openDesk(open);
    const stop = new AbortController();
    const changes = await watch(runtime, all, stop.signal);
    const waiting = changes.next();
    stop.abort();
    expect(await waiting).toEqual(over);
    const never: Change[] = [];
    for await (const change of runtime.watch(all, { signal: stop.signal })) never.push(change);
    expect(never).toEqual([]);
    for await (const change of runtime.watch(['runs', 'runs'])) {
      expect(change).toEqual({ kinds: ['runs'] });
      break;
    }
    const [one, other] = [await watch(runtime), await watch(runtime)];
    const last = one.next();
    await runtime.close();
    expect([await last, await other.next()]).toEqual([over, over]);
    const late = runtime.watch(all)[Symbol.asyncIterator]();
    await expect(late.next()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
  });

  test('kinds that do not exist are refused', slow, async () => {
    const { runtime } = await openDesk(open);
    for (const kinds of [[], ['pending'], 'runs', null]) {
      const changes = runtime.watch(JSON.parse(JSON.stringify(kinds)))[Symbol.asyncIterator]();
      await expect(changes.next()).rejects.toMatchObject({
        code: 'USAGE',
        message: 'the kinds to watch are not a list of pendings, runs, suites',
      });
    }
  });

  test('a watch keeps the process alive while it waits, and not after its end', slow, async () => {
    const { file, env, store } = await openDesk(open);
    const said = watchInProcess(file, env);
    await said.first;
    await sleep(300);
    await store.createRun(newRun('r2'));
    expect(await said.end).toBe('["pendings","runs"]\n["runs"]\nend\n');
  });
}

/** Watches in another process, which leaves the loop at the second item and does not close its runtime. */
function watchInProcess(file: string, env: NodeJS.ProcessEnv, prefix: readonly string[] = []) {
  const script = `
    import { openRuntime } from '${import.meta.dirname}/../../src/index.ts';
    const runtime = await openRuntime(process.argv[1], {log: false});
    let items = 0;
    for await (const {kinds} of runtime.watch(['pendings', 'runs'])) {
      console.log(JSON.stringify(kinds));
      if (++items === 2) break;
    }
    console.log('end');`;
  const words = [...prefix, process.execPath, '--input-type=module', '-e', script, file];
  const [command = '', ...args] = words;
  const first = Promise.withResolvers<void>();
  const end = new Promise<string>((done) => {
    const child = execFile(command, args, { env, timeout: 60_000 }, (error, stdout, stderr) =>
      done(error === null ? stdout : `${stdout}${stderr}${error.message}`),
    );
    child.stdout?.once('data', () => first.resolve());
    child.once('close', () => first.resolve());
  });
  return { first: first.promise, end };
}

describe('a watch in SQLite', () => {
  const sqlite: Open = async () => ({
    spec: 'state_store: {type: sqlite, path: state/state.db}\n',
    place: (folder) => join(folder, 'state/state.db'),
    openStore: (folder) => openSqliteStore(join(folder, 'state/state.db')),
  });
  watchTests(sqlite);

  test.each([
    ['removed', (path: string) => rmSync(path)],
    ['removed with its folder', (path: string) => rmSync(join(path, '..'), { recursive: true })],
    [
      'replaced',
      (path: string) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
  ])('a file that is %s fails the watch', slow, async (_, remove) => {
    const { runtime, file } = await openDesk(sqlite);
    const changes = await watch(runtime);
    const next = changes.next();
    remove(join(file, '../state/state.db'));
    await expect(next).rejects.toMatchObject({ code: 'STORE_FAILED' });
    expect(await changes.next()).toEqual(over);
  });

  test('stores of the version before are upgraded', slow, async () => {
    const folder = workspace('state_store: {type: sqlite, path: state/state.db}\n');
    const open = () => openRuntime(join(folder, 'runtime.yaml'), { log: false });
    await using earlier = await open();
    await watch(earlier);
    await earlier.close();
    for (const [name, version, later] of [
      ['state.db', 3, 'DROP TABLE pins;'],
      ['evals.db', 2, ''],
    ]) {
      const database = new DatabaseSync(join(folder, 'state', `${name}`));
      const triggers = database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%_tell_%'").all();
      for (const trigger of triggers) database.exec(`DROP TRIGGER ${String(trigger['name'])}`);
      database.exec(`DROP TABLE changes; ${later} PRAGMA user_version = ${version}`);
      database.close();
    }
    await using runtime = await open();
    const changes = await watch(runtime);
    const store = await openSqliteStore(join(folder, 'state/state.db'));
    await store.createRun(newRun('r1'));
    expect(await changes.next()).toEqual(only('runs'));
    expect(await store.findPin('files')).toBeUndefined();
    await store.close();
  });

  test.runIf(mayLimitWatches)('a machine without watches left polls the file', slow, async () => {
    const { file, env, store } = await openDesk(sqlite);
    const said = watchInProcess(file, env, withoutWatches());
    await said.first;
    await sleep(600);
    await store.createRun(newRun('r2'));
    expect(await said.end).toBe('["pendings","runs"]\n["runs"]\nend\n');
  });
});

test('a watch of a store in memory sees the changes of its runtime', async () => {
  const folder = workspace(`
state_store: {type: memory}
tools:
  pay: {description: pays, approval: {}, exec: {command: /bin/true}}
`);
  await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  const changes = await watch(runtime);
  await runtime.tools.call('pay', {});
  expect(await changes.next()).toEqual(only('pendings', 'runs'));
});

describe.runIf(hasPostgres)(`a watch in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  let url = '';
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());
  const ask = (sql: string) => server.ask(sql, decodeURIComponent(new URL(url).pathname.slice(1)));
  const postgres: Open = async () => {
    url = await server.newUrl('socket');
    const here = url;
    return {
      spec: 'state_store: {type: postgres, url_env: WATCH_URL}\n',
      env: { WATCH_URL: here },
      place: () => here,
      openStore: () => openPostgresStore(addressOf(here)),
    };
  };
  watchTests(postgres);

  test('a change whose transaction began before the watch is seen', slow, async () => {
    const { runtime } = await openDesk(postgres);
    const address = addressOf(url);
    const client = new Client({ ...address, ssl: false });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query("BEGIN; UPDATE signalbox.runs SET status = 'failed' WHERE id = 'r1'");
    const changes = await watch(runtime);
    const next = changes.next();
    expect(await isStillWaiting(next)).toBe(true);
    await client.query('COMMIT');
    expect(await next).toMatchObject({ value: { kinds: expect.arrayContaining(['runs']) } });
  });

  test(
    'notifications are sent only while somebody watches, also after a watcher was killed',
    slow,
    async () => {
      const { runtime, file, env } = await openDesk(postgres);
      const watches = async () => (await ask('SELECT pid FROM signalbox.watches')).map(({ pid }) => pid);
      expect(await watches()).toEqual([]);
      const script = `
      import { openRuntime } from '${import.meta.dirname}/../../src/index.ts';
      const runtime = await openRuntime(process.argv[1], {log: false});
      for await (const each of runtime.watch(['runs'])) console.log(each.kinds[0]);`;
      const child = execFile(process.execPath, ['--input-type=module', '-e', script, file], { env });
      await new Promise((resolve) => child.stdout?.once('data', resolve));
      const [killed] = await watches();
      child.kill('SIGKILL');
      const lives = `SELECT 1 FROM pg_stat_activity WHERE pid = ${killed}`;
      while ((await ask(lives)).length > 0) await sleep(50);
      expect(await watches()).toEqual([killed]);
      const changes = await watch(runtime);
      expect(await watches()).toHaveLength(1);
      expect(await watches()).not.toContain(killed);
      await changes.return?.();
      while ((await watches()).length > 0) await sleep(50);
    },
  );

  test('a watch outlives a restart of the server', slow, async () => {
    const { runtime, change } = await openDesk(postgres);
    const changes = await watch(runtime);
    await server.stop('immediate');
    // What happens meanwhile is unknown.
    expect(await changes.next()).toEqual(only(...all));
    await server.start();
    for (let kinds = ''; kinds !== 'runs'; kinds = (await changes.next()).value?.kinds.join() ?? 'end')
      await change('runs');
    await change('pendings');
    for (let kinds = ''; kinds !== 'pendings'; kinds = (await changes.next()).value?.kinds.join() ?? 'end');
  });
});

import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { inspectDatabase, resetTimes } from '../../src/store/sqlite/inspect.ts';
import { faultOf, newCall, newRun } from './examples.ts';
import { addressOf, hasPostgres, startServer, type TestServer, unlessMissing } from './postgres/server.ts';
import { mayMount, newFile, openAt, start, withDisk } from './processes.ts';

const approved = { kind: 'approved', args: null, by: 'ann', reason: '' } as const;
const hour = 3_600_000;

test('an expiring call is not decided while the clock is behind the stored time', async () => {
  const now = Date.now();
  const store = await openAt(newFile());
  await store.createRun({ ...newRun('r1'), createdAt: now });
  await store.addPending(newCall('soon', 'r1', { createdAt: now, expiresAt: now + 3_000 }));
  await store.addPending(newCall('never', 'r1', { createdAt: now }));
  expect(await faultOf(store.decide('soon', approved, now - hour))).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining(`it shows ${new Date(now - hour).toISOString()}`),
    hint: expect.stringContaining('signalbox store reset-clock'),
  });
  // A call without expiry ignores clocks.
  expect((await store.decide('never', approved, now - hour))?.isAccepted).toBe(true);
  // Clocks are often corrected by less than a second.
  expect((await store.decide('soon', approved, now - 500))?.record.decidedAt).toBeGreaterThanOrEqual(
    now - hour,
  );
});

test('times that were kept ahead of the clock are reported, and set back to now', async () => {
  const now = Date.now();
  const file = newFile();
  const store = await openAt(file);
  await store.createRun({ ...newRun('r1'), createdAt: now + 5 * hour });
  await store.addPending(newCall('p1', 'r1', { createdAt: now, expiresAt: now + 10 * hour }));
  expect((await faultOf(store.decide('p1', approved, now))).code).toBe('STORE_FAILED');
  await store.close();
  expect(inspectDatabase(file).newestAt).toBe(now + 5 * hour);
  const database = await openDatabase(file, 1_000);
  expect(await database.write(() => resetTimes(database, now))).toBe(2);
  await database.close(async () => {});
  const again = await openAt(file);
  const decided = await again.decide('p1', approved, now + 1);
  expect([decided?.isAccepted, decided?.record.expiresAt]).toEqual([true, now + 10 * hour]);
});

test('a missing journal is reported while its index shows that the store lacks its contents', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  // The state that a killed process leaves.
  const kept = newFile();
  mkdirSync(dirname(kept));
  for (const end of ['', '-wal', '-shm']) copyFileSync(`${file}${end}`, `${kept}${end}`);
  await store.close();
  const whole = newFile();
  mkdirSync(dirname(whole));
  for (const end of ['', '-wal', '-shm']) copyFileSync(`${kept}${end}`, `${whole}${end}`);
  rmSync(`${kept}-wal`);
  expect(await faultOf(openAt(kept))).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining(`${kept}-wal is missing`),
    hint: expect.stringContaining(`remove ${kept}-shm`),
  });
  expect(await (await openAt(whole)).findRun('r1')).toMatchObject({ id: 'r1' });
  rmSync(`${kept}-shm`);
  expect(await (await openAt(kept)).findRun('r1')).toBeUndefined();
});

test.runIf(mayMount)(
  'a store that was closed before its disk was full can be read, and each write reports the full disk',
  { timeout: 60_000 },
  async () => {
    const file = newFile();
    const store = await openAt(file);
    await store.createRun(newRun('r1'));
    await store.close();
    const disk = newFile();
    mkdirSync(dirname(disk));
    const fill = `cp ${file} "$folder"/state.db && { dd if=/dev/zero of="$folder"/fill bs=4096 2>/dev/null || true; }`;
    const lines = await start(['read-full', disk], withDisk(dirname(disk), 'size=1m', fill)).rest();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { readable: 'r1' },
      { failed: 'STORE_FAILED', message: expect.stringContaining('has no disk space left (SQLITE_FULL') },
    ]);
  },
);

describe.runIf(hasPostgres)(`over Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ settings: { standard_conforming_strings: 'off' } });
  }, 60_000);
  afterAll(() => server?.remove());

  test('a store keeps texts with backslashes whatever the server’s setting', async () => {
    const store = await openPostgresStore(addressOf(await server.newUrl()));
    onTestFinished(() => store.close());
    await store.createRun({ ...newRun('r1'), name: String.raw`a\nb\'c` });
    expect((await store.findRun('r1'))?.name).toBe(String.raw`a\nb\'c`);
    expect((await store.work?.listWorkers()) ?? []).toEqual([]);
  });

  test('the time of a store is that of its server', async () => {
    const store = await openPostgresStore(addressOf(await server.newUrl('socket', 'caller')));
    onTestFinished(() => store.close());
    const before = Date.now();
    const now = await store.now();
    expect([now >= before, now <= Date.now()]).toEqual([true, true]);
    const [row] = await server.ask('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now');
    const real = await openPostgresStore(addressOf(await server.newUrl()));
    onTestFinished(() => real.close());
    expect(await real.now()).toBeGreaterThanOrEqual(Number(row?.['now']));
  });
});

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { Json } from '../../src/base/json/json.ts';
import { openStore } from '../../src/store/open-store.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { stateLayout } from '../../src/store/sqlite/schema.ts';
import { faultOf, newCall, newRun } from './examples.ts';
import { mayMount, newFile, openAt, start, withDisk } from './processes.ts';

// An import would print a warning on Node 22.
const { DatabaseSync } = loadSqlite();

const isRoot = process.getuid?.() === 0;

const openFault = async (file: string) => {
  const { code, message, hint } = await faultOf(openStore({ type: 'sqlite', file }));
  return { code, message, hint };
};

test('a store that is refused fails with the reason', async () => {
  expect(await faultOf(openStore({ type: 'refused', reason: 'redis is not supported' }))).toMatchObject({
    code: 'STORE_FAILED',
    message: 'redis is not supported',
  });
});

test.each([
  {
    title: 'below a regular file',
    place: () => {
      const file = newFile();
      writeFileSync(dirname(file), '');
      return file;
    },
    says: /^the state store .+\/state\.db failed \(ENOTDIR: not a directory, .+\)$/,
  },
  {
    title: 'at a folder',
    place: () => mkdtempSync(join(tmpdir(), 'state-')),
    says: /^the state store .+ cannot be opened \(SQLITE_CANTOPEN: unable to open database file\)$/,
  },
  {
    title: 'in a folder that cannot be made',
    place: () => '/proc/none/state.db',
    says: /\(ENOENT: .+\/proc\/none/,
  },
  { title: 'at a path that is none', place: () => '/tmp/a\0b', says: /without null bytes/ },
])('no store can be created $title', async ({ place, says }) => {
  const file = place();
  expect(await openFault(file)).toEqual({
    code: 'STORE_FAILED',
    message: expect.stringMatching(says),
    hint: expect.stringContaining(file),
  });
});

test.skipIf(isRoot)('no store can be created in a read-only folder', async () => {
  const file = newFile();
  mkdirSync(dirname(file), { mode: 0o500 });
  expect(await openFault(file)).toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringMatching(/EACCES/),
  });
});

test.skipIf(isRoot)('a read-only store is not opened', async () => {
  const file = newFile();
  await (await openAt(file)).close();
  chmodSync(file, 0o400);
  expect(await openFault(file)).toMatchObject({ message: expect.stringMatching(/SQLITE_READONLY/) });
});

test.runIf(mayMount)('no store can be created on a read-only disk', async () => {
  const file = newFile();
  mkdirSync(dirname(file));
  const actor = start(['open', file], withDisk(dirname(file), 'ro'));
  expect(await actor.rest()).toEqual([expect.stringMatching(/"STORE_FAILED".*EROFS/)]);
});

test.runIf(mayMount)('a store on a disk that became read-only is not opened', async () => {
  const file = newFile();
  await (await openAt(file)).close();
  const copy = `mount -o remount,bind,ro "$folder"`;
  mkdirSync(join(dirname(file), 'disk'));
  const disk = join(dirname(file), 'disk');
  const actor = start(
    ['open', join(disk, 'state.db')],
    withDisk(disk, 'size=1m', `cp ${file} "$folder" && ${copy}`),
  );
  expect(await actor.rest()).toEqual([expect.stringMatching(/"STORE_FAILED".*SQLITE_(READONLY|CANTOPEN)/)]);
});

const full: readonly {
  title: string;
  possible: boolean;
  says: RegExp;
  prefix: (folder: string) => readonly string[];
}[] = [
  {
    title: 'a disk that is full',
    possible: mayMount,
    says: /has no disk space left \(SQLITE_FULL: /,
    prefix: (folder) => withDisk(folder, 'size=400k'),
  },
  {
    title: 'a limit on the size of files',
    possible: process.platform !== 'win32',
    says: /could not be read or written \(SQLITE_IOERR: /,
    // 512 blocks are 256 or 512 KiB, depending on the shell.
    prefix: () => ['sh', '-c', 'ulimit -f 512 && exec "$@"', 'sh'],
  },
];

test.for(full.filter(({ possible }) => possible))(
  '$title fails the call that needs more, keeps stored data, and leaves the store readable',
  { timeout: 60_000 },
  async ({ prefix, says }) => {
    const file = newFile();
    mkdirSync(dirname(file));
    const lines = await start(['fill', file], prefix(dirname(file))).rest();
    const kept = lines.filter((line) => line.startsWith('step '));
    const [failed, readable] = lines.slice(kept.length).map((line) => JSON.parse(line));
    expect(kept.length).toBeGreaterThan(3);
    expect(failed).toEqual({
      failed: 'STORE_FAILED',
      message: expect.stringMatching(says),
      hint: expect.stringContaining(file),
    });
    expect(readable).toEqual({ readable: kept.length });
  },
);

test('a store continues from its stored data after a file size limit is lifted', {
  timeout: 60_000,
}, async () => {
  const file = newFile();
  const limited = ['sh', '-c', 'ulimit -f 512 && exec "$@"', 'sh'];
  const lines = await start(['fill', file], limited).rest();
  const kept = lines.filter((line) => line.startsWith('step ')).map((line) => line.slice(5));
  const store = await openAt(file);
  expect((await store.listSteps('r1')).map(({ step }) => step)).toEqual(kept);
  await store.endStep('r1', 'more', new Json('1'), 1);
  expect(await store.listSteps('r1')).toHaveLength(kept.length + 1);
});

test('a file that is no database is unchanged', async () => {
  const file = newFile();
  mkdirSync(dirname(file));
  writeFileSync(file, 'kind: RuntimeConfig\n'.repeat(100));
  const before = readFileSync(file);
  expect(await openFault(file)).toEqual({
    code: 'STORE_FAILED',
    message: `the state store ${file} is not a database (SQLITE_NOTADB: file is not a database)`,
    hint: `${file} is another file, or damaged: choose another path in spec.state_store, or restore a backup.`,
  });
  expect(readFileSync(file).equals(before)).toBe(true);
});

test.each([
  { title: 'tables', sql: 'CREATE TABLE customers (id INTEGER PRIMARY KEY)' },
  { title: 'a version', sql: 'PRAGMA user_version = 1' },
  { title: 'an id', sql: 'PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE runs (id)' },
])('a database with $title of another program is unchanged', async ({ sql }) => {
  const file = newFile();
  mkdirSync(dirname(file));
  change(file, sql);
  const before = readFileSync(file);
  expect(await openFault(file)).toEqual({
    code: 'STORE_FAILED',
    message: `${file} is a database of another program`,
    hint: 'Choose another path in spec.state_store.',
  });
  expect(readFileSync(file).equals(before)).toBe(true);
});

test.each([
  [1, 'A Signalbox before the first release'],
  [stateLayout.version + 1, 'A newer Signalbox'],
])('a store of version %i is unchanged', async (version, who) => {
  const file = newFile();
  await (await openAt(file)).close();
  change(file, `PRAGMA user_version = ${version}`);
  const before = readFileSync(file);
  expect(await openFault(file)).toEqual({
    code: 'STORE_FAILED',
    message: `the state store ${file} has version ${version}, but this Signalbox supports version ${stateLayout.version}`,
    hint: `${who} wrote it: use that version, or choose another path in spec.state_store.`,
  });
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a store that lacks a table is not opened', async () => {
  const file = newFile();
  await (await openAt(file)).close();
  change(file, 'DROP TABLE steps');
  expect(await openFault(file)).toMatchObject({
    code: 'STORE_FAILED',
    message: `the state store ${file} is damaged (no such table: steps)`,
    hint: expect.stringContaining('restore a backup'),
  });
});

test.each([
  { title: 'a column of a run', sql: 'ALTER TABLE runs DROP COLUMN output' },
  { title: 'a column of a step', sql: 'ALTER TABLE steps DROP COLUMN attempts' },
  { title: 'a column of a call', sql: 'ALTER TABLE pendings DROP COLUMN members' },
])('a store that lacks $title is not opened', async ({ sql }) => {
  const file = newFile();
  await (await openAt(file)).close();
  change(file, sql);
  expect(await openFault(file)).toEqual({
    code: 'STORE_FAILED',
    message: expect.stringMatching(/^the state store .+ is damaged \(.*no (such column|column named)/),
    hint: expect.stringContaining('restore a backup'),
  });
});

test('the answer to a change names the store if it is damaged', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  await store.addPending(newCall('p1', 'r1'));
  change(file, `PRAGMA ignore_check_constraints = ON; UPDATE pendings SET args = '{"status'`);
  expect(await faultOf(store.addPending(newCall('p1', 'r1')))).toMatchObject({
    code: 'STORE_FAILED',
    message: `the state store ${file} is damaged (column args holds an invalid value, "{\\"status")`,
    hint: expect.stringContaining('restore a backup'),
  });
  await store.close();
});

test('a store that was truncated to nothing is reported, and no new one replaces it', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  await store.close();
  truncateSync(file, 0);
  expect(await openFault(file)).toEqual({
    code: 'STORE_FAILED',
    message: `the state store ${file} is damaged: the file is empty`,
    hint: `Restore a backup of ${file}; without one, remove it, and a new store starts empty.`,
  });
  expect(statSync(file).size).toBe(0);
});

test('a store with only its journal left is reported, and the journal is unchanged', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  const journal = readFileSync(`${file}-wal`);
  await store.close();
  rmSync(file);
  writeFileSync(`${file}-wal`, journal);
  expect(await openFault(file)).toMatchObject({
    code: 'STORE_FAILED',
    message: `the state store ${file} is missing, but ${file}-wal still exists`,
  });
  expect(readFileSync(`${file}-wal`).equals(journal)).toBe(true);
});

async function filledStore(): Promise<string> {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  for (let index = 0; index < 60; index++) {
    await store.endStep('r1', `s${index}`, new Json(JSON.stringify('x'.repeat(5_000))), index);
  }
  await store.close();
  return file;
}

test('overwritten pages are reported, and no wrong data is returned', async () => {
  const file = await filledStore();
  const bytes = readFileSync(file);
  const empty = newFile();
  await (await openAt(empty)).close();
  // Leaves the pages of an empty store intact, because they define the tables.
  bytes.fill(0xa5, statSync(empty).size);
  writeFileSync(file, bytes);
  const store = await openAt(file);
  expect(await faultOf(store.listSteps('r1'))).toMatchObject({
    code: 'STORE_FAILED',
    message: `the state store ${file} is damaged (SQLITE_CORRUPT: database disk image is malformed)`,
    hint: expect.stringContaining('restore a backup'),
  });
});

test('a truncated file is reported', async () => {
  const file = await filledStore();
  truncateSync(file, Math.floor(statSync(file).size / 2));
  expect((await openFault(file)).message).toMatch(/is damaged \(SQLITE_CORRUPT: /);
});

test.each([
  { title: 'an error that is none', sql: "UPDATE runs SET error = '[]'" },
  { title: 'an error without its code', sql: 'UPDATE runs SET error = \'{"message": "m", "hint": "h"}\'' },
  { title: 'a word that is no status', sql: "UPDATE runs SET status = 'lost'" },
  { title: 'a decision that nobody took', sql: "UPDATE pendings SET ruling = 'approved', decided_at = 1" },
  { title: 'a word that is no ruling', sql: "UPDATE pendings SET ruling = 'approve', decided_at = 1" },
])('$title is reported, not returned', async ({ sql }) => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  await store.addPending(newCall('p1', 'r1'));
  change(file, `PRAGMA ignore_check_constraints = ON; ${sql}`);
  const read = [store.findRun('r1'), store.findPending('p1', 1)];
  const codes = read.map((promise) =>
    promise.then(
      () => 'read',
      ({ code }) => code,
    ),
  );
  expect((await Promise.all(codes)).toSorted()).toEqual(['STORE_FAILED', 'read']);
});

test.each([
  { title: 'removed', harm: (file: string) => rmSync(dirname(file), { recursive: true }) },
  { title: 'moved away', harm: (file: string) => renameSync(file, `${file}.old`) },
  {
    title: 'replaced',
    harm: (file: string) => {
      writeFileSync(`${file}.backup`, '');
      renameSync(`${file}.backup`, file);
    },
  },
])('a store whose file is $title during use stores nothing more', async ({ harm }) => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  harm(file);
  for (const call of [
    store.endStep('r1', 'a', new Json('1'), 1),
    store.findRun('r1'),
    store.claimRun('r1'),
  ]) {
    expect(await faultOf(call)).toMatchObject({
      code: 'STORE_FAILED',
      message: `the state store ${file} was removed or replaced while it was in use`,
    });
  }
});

test('folders and files are readable by the owner only, and ignored by repositories', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1'));
  const claim = await store.claimRun('r1');
  const modes = [dirname(file), file, `${file}-wal`, `${file}-shm`, `${file}.locks`].map((path) =>
    (statSync(path).mode & 0o777).toString(8),
  );
  expect(modes).toEqual(['700', '600', '600', '600', '700']);
  expect(readFileSync(join(dirname(file), '.gitignore'), 'utf8')).toBe('*\n');
  await claim?.release();
});

test('an existing folder is unchanged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'state-'));
  chmodSync(folder, 0o750);
  await (await openAt(join(folder, 'deep/state.db'))).close();
  expect((statSync(folder).mode & 0o777).toString(8)).toBe('750');
  expect(() => statSync(join(folder, 'deep/.gitignore'))).toThrow();
});

test('a store that is reached through a link has the same claims', async () => {
  const file = newFile();
  const store = await openAt(file);
  const link = join(mkdtempSync(join(tmpdir(), 'state-')), 'link.db');
  symlinkSync(file, link);
  const other = await openAt(link);
  await store.claimRun('r1');
  expect(await other.claimRun('r1')).toBeUndefined();
});

test('pruned data can no longer be found in the files', async () => {
  const file = newFile();
  const store = await openAt(file);
  await store.createRun(newRun('r1', { input: Json.from('the secret of the pruned') }));
  await store.setRunStatus('r1', { status: 'completed', at: 1 });
  const holds = () =>
    [file, `${file}-wal`].some((path) => readFileSync(path).includes('the secret of the pruned'));
  expect(holds()).toBe(true);
  await store.prune(2);
  expect(holds()).toBe(false);
});

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  database.exec(sql);
  database.close();
}

test('every file and folder of a state in use is readable by the owner only, whatever the umask', async () => {
  const file = newFile();
  const umask = process.umask(0o022);
  try {
    const store = await openStore({ type: 'sqlite', file });
    await store.createRun(newRun('run-1'));
    const claim = await store.claimRun('run-1');
    const modes = readdirSync(dirname(file), { recursive: true, encoding: 'utf8' }).map((name) => {
      const stat = statSync(join(dirname(file), name));
      return [name, (stat.mode & 0o077).toString(8), stat.isFile()];
    });
    expect(modes.some(([name]) => String(name).endsWith('.lock'))).toBe(true);
    expect(modes.filter(([, others]) => others !== '0')).toEqual([]);
    await claim?.release();
    await store.close();
  } finally {
    process.umask(umask);
  }
});

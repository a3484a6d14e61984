import { spawnSync } from 'node:child_process';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { decodeText, encodeText } from '../../src/store/sqlite/row.ts';
import { hardStrings } from './examples.ts';
import { newFile, openAt, start } from './processes.ts';

test('a commit is written through, children are removed with their run, and removed data is overwritten', async () => {
  const database = await openDatabase(newFile(), 1_000);
  const names = [
    'journal_mode',
    'synchronous',
    'fullfsync',
    'checkpoint_fullfsync',
    'foreign_keys',
    'secure_delete',
  ];
  const values = names.map((name) => [
    name,
    Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0],
  ]);
  await database.close(async () => {});
  // 2 is FULL. Source: https://www.sqlite.org/pragma.html#pragma_synchronous
  expect(Object.fromEntries(values)).toEqual({
    journal_mode: 'wal',
    synchronous: 2,
    fullfsync: 1,
    checkpoint_fullfsync: 1,
    foreign_keys: 1,
    secure_delete: 1,
  });
});

test('a transaction whose work throws leaves nothing', async () => {
  const database = await openDatabase(newFile(), 1_000);
  const insert = database.prepare(
    "INSERT INTO runs VALUES (NULL, :id, 'tool', '', NULL, '', '', '1', 1, 'running', NULL, NULL, 1)",
  );
  const failing = database.write(() => {
    insert.run({ id: 'r1' });
    throw new Error('no');
  });
  await expect(failing).rejects.toMatchObject({ code: 'STORE_FAILED' });
  await database.write(() => insert.run({ id: 'r2' }));
  const ids = database.prepare('SELECT id FROM runs').all();
  await database.close(async () => {});
  expect(ids).toEqual([{ id: 'r2' }]);
});

test.each(hardStrings)('the text %j survives as well-formed text without NUL', (text) => {
  const kept = encodeText(text);
  expect([decodeText(kept), kept.isWellFormed(), kept.includes('\0')]).toEqual([text, true, false]);
});

test('a plain text is stored unchanged', () => {
  expect(encodeText('{"a": "é😀"}')).toBe('{"a": "é😀"}');
});

test('a program that opens a store prints no SQLite warning', () => {
  const module = new URL('../../src/store/open-store.ts', import.meta.url).href;
  const program = `import { openStore } from ${JSON.stringify(module)};
    process.emitWarning('mine');
    const store = await openStore({ type: 'sqlite', file: ${JSON.stringify(newFile())} });
    process.emitWarning('still mine');
    await store.close();`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  const warnings = stderr.split('\n').filter((line) => line.includes('Warning: '));
  expect(warnings.map((line) => line.replace(/^\(node:\d+\) /, ''))).toEqual([
    'Warning: mine',
    'Warning: still mine',
  ]);
});

test('only the SQLite warning of Node is suppressed while it loads SQLite', async () => {
  const said: string[] = [];
  const sqlite = loadSqlite();
  const emit = vi
    .spyOn(process, 'emitWarning')
    .mockImplementation((warning) => void said.push(String(warning)));
  const load = vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
    process.emitWarning(
      'SQLite is an experimental feature and might change at any time',
      'ExperimentalWarning',
    );
    process.emitWarning('Other is an experimental feature', 'ExperimentalWarning');
    process.emitWarning('SQLite is deprecated', 'DeprecationWarning');
    return sqlite;
  });
  onTestFinished(() => {
    emit.mockRestore();
    load.mockRestore();
  });
  loadSqlite();
  process.emitWarning('SQLite is an experimental feature', 'ExperimentalWarning');
  expect(said).toEqual([
    'Other is an experimental feature',
    'SQLite is deprecated',
    'SQLite is an experimental feature',
  ]);
});

test('a Node without SQLite is reported', () => {
  const load = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  onTestFinished(() => load.mockRestore());
  expect(() => loadSqlite()).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
});

test('a claim stays valid although its holder keeps no reference', async () => {
  const file = newFile();
  const holder = start(['forget', file, 'r1']);
  expect(await holder.next()).toBe('collected');
  expect(await (await openAt(file)).claimRun('r1')).toBeUndefined();
  await holder.kill();
});

import { expect, test } from 'vitest';
import { memoryFile } from '../../src/store/sqlite/connection.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { compareStores } from './model/operations.ts';
import { newFile } from './processes.ts';

test('under any operations, a store answers like the hand-written one, on disk and in memory', async () => {
  const openAll = () => Promise.all([newFile(), memoryFile].map((file) => openSqliteStore(file)));
  await expect(compareStores(openAll, Number(process.env['MODEL_RUNS'] ?? 60))).resolves.toBeUndefined();
});

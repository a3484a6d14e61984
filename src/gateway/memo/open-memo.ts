import { dirname, join } from 'node:path';
import type { StateStoreConfig } from '../../config/config.ts';
import type { HostEnv } from '../../process/env.ts';
import { type Connection, ignoreErrors, memoryFile, openConnection } from '../../store/sqlite/connection.ts';
import type { Layout } from '../../store/sqlite/layout.ts';
import { createStatement } from '../../store/sqlite/statement.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import { unusableStoreError } from '../../store/store-rules.ts';
import { createKeptAnswers, createMarks, type MarkLimits, type Memo } from './memo.ts';
import { createMemoKey, type MemoKey, openMemoKey } from './memo-key.ts';

/** Uses the state store's database, `memo.db` and `memo.key` beside its file, or memory. Throws STORE_FAILED. */
export async function openMemo(
  config: StateStoreConfig,
  env: HostEnv,
  limits: MarkLimits = defaultLimits,
): Promise<Memo> {
  if (config.type === 'refused') throw unusableStoreError(config.reason);
  if (config.type === 'postgres') {
    const { readAddress } = await import('../../store/postgres/connection/address.ts');
    const { openSharedMemo } = await import('./shared-memo.ts');
    return await openSharedMemo(readAddress(config.urlEnv, env), limits);
  }
  const folder = config.type === 'memory' ? undefined : dirname(config.file);
  const file = folder === undefined ? memoryFile : join(folder, 'memo.db');
  try {
    const key = folder === undefined ? createMemoKey() : openMemoKey(join(folder, 'memo.key'));
    const options = { file, layout: memoLayout, commitWaitsFor: 'nothing', waitMs: WAIT_MS } as const;
    return createMemo(await openConnection(options), key, limits);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

const WAIT_MS = 30_000;

const defaultLimits: MarkLimits = { maxRows: 200_000, idleMs: 30 * 86_400_000 };

function createMemo(connection: Connection, key: MemoKey, limits: MarkLimits): Memo {
  const { database } = connection;
  database.exec('PRAGMA busy_timeout = 5000');
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  let isOpen = true;
  return {
    isShared: false,
    key,
    marks: createMarks(connection, prepare, limits),
    answers: createKeptAnswers(connection, prepare),
    close: async () => {
      if (isOpen) ignoreErrors(() => database.close());
      isOpen = false;
    },
  };
}

// Names are keyed hashes, and values are one word or encrypted, so the tables reveal no texts.
const tables = `
CREATE TABLE marks (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_by_use ON marks (used_at);

CREATE TABLE kept_answers (
  name TEXT PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  sealed TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
`;

/** The application ID is "SGBM" in ASCII. */
const memoLayout: Layout = { applicationId: 0x5347424d, version: 1, tables };

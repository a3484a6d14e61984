import { dirname, join } from 'node:path';
import type { StateStoreConfig } from '../../config/config.ts';
import { type Connection, ignoreErrors, memoryFile, openConnection } from '../../store/sqlite/connection.ts';
import { createStatement } from '../../store/sqlite/statement.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import { notInPostgresError, unusableStoreError } from '../../store/store-rules.ts';
import { createKeptAnswers, type KeptAnswers } from './kept-answers.ts';
import { createMarks, type MarkLimits, type Marks } from './marks.ts';
import { createMemoKey, type MemoKey, openMemoKey } from './memo-key.ts';
import { memoLayout } from './memo-layout.ts';

/** What a gateway remembers of earlier calls: names by a secret key, and sealed texts. */
export interface Memo {
  readonly key: MemoKey;
  readonly marks: Marks;
  readonly answers: KeptAnswers;
  /** Never throws; may be called again. */
  close(): void;
}

/** The memo that belongs to a state store: `memo.db` and `memo.key` beside it, or in memory. Throws STORE_FAILED. */
export async function openMemo(config: StateStoreConfig, limits: MarkLimits = defaultLimits): Promise<Memo> {
  if (config.type === 'refused') throw unusableStoreError(config.reason);
  if (config.type === 'postgres')
    throw notInPostgresError('what a gateway remembers of earlier calls, its marks,');
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

/** 200,000 messages and results, each for 30 days after it was last met. */
const defaultLimits: MarkLimits = { maxRows: 200_000, idleMs: 30 * 86_400_000 };

function createMemo(connection: Connection, key: MemoKey, limits: MarkLimits): Memo {
  const { database } = connection;
  // No transaction of another process takes long.
  database.exec('PRAGMA busy_timeout = 5000');
  const prepare = (sql: string) => createStatement(database.prepare(sql));
  let isOpen = true;
  return {
    key,
    marks: createMarks(connection, prepare, limits),
    answers: createKeptAnswers(connection, prepare),
    close: () => {
      if (isOpen) ignoreErrors(() => database.close());
      isOpen = false;
    },
  };
}

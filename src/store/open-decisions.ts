import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import PQueue from 'p-queue';
import type { StateStoreConfig } from '../config/config.ts';
import { type HostEnv, hostEnv } from '../process/env.ts';
import { type DecisionStore, decisionMethods } from './decision-store.ts';
import { doNow } from './driver.ts';
import { ignoreErrors, memoryFile, openConnection, retryWhileBusy, transact } from './sqlite/connection.ts';
import { decisionLayout } from './sqlite/schema.ts';
import { createAsk, createStatement } from './sqlite/statement.ts';
import { guardWork, toStoreError } from './sqlite/store-error.ts';
import { unusableStoreError } from './store-rules.ts';

/** Opens the decisions of a state store: `decisions.db` beside it, or the same database. Throws STORE_FAILED. */
export async function openDecisions(
  config: StateStoreConfig,
  env: HostEnv = hostEnv(),
): Promise<DecisionStore> {
  switch (config.type) {
    case 'memory':
      return await openSqliteDecisions(memoryFile);
    case 'sqlite':
      return await openSqliteDecisions(decisionFileOf(config.file));
    case 'postgres': {
      // Other stores load no code of Postgres.
      const { readAddress } = await import('./postgres/connection/address.ts');
      const { openPostgresDecisions } = await import('./postgres-decisions.ts');
      return await openPostgresDecisions(readAddress(config.urlEnv, env));
    }
    case 'refused':
      throw unusableStoreError(config.reason);
  }
}

/** Whether decisions may have been recorded; false only for a file that does not exist. */
export function mayHaveDecisions(config: StateStoreConfig): boolean {
  return config.type !== 'sqlite' || existsSync(decisionFileOf(config.file));
}

function decisionFileOf(file: string): string {
  return join(dirname(file), 'decisions.db');
}

/** Waits for locks without blocking this process, for `waitMs`. Throws STORE_FAILED. */
export async function openSqliteDecisions(file: string, waitMs = 2_000): Promise<DecisionStore> {
  const connection = await openConnection({ file, layout: decisionLayout, commitWaitsFor: 'nothing', waitMs })
    // The file is named in the error.
    .catch((error: unknown) => {
      throw toStoreError(error, file);
    });
  const { database, location, requireSameFile } = connection;
  const ask = createAsk((sql) => createStatement(database.prepare(sql)));
  const queue = new PQueue({ concurrency: 1 });
  let isClosed = false;
  const guard = guardWork(location, () => isClosed);
  const enqueue = <Result>(work: () => Result, retryMs = waitMs): Promise<Result> =>
    guard.later(() =>
      queue.add(() =>
        retryWhileBusy(() => {
          requireSameFile();
          return work();
        }, retryMs),
      ),
    );
  const methods = decisionMethods({
    ...{ location, isShared: false },
    read: (work) => enqueue(() => doNow(work(), ask)),
    transact: (work) => enqueue(() => transact(database, () => doNow(work(), ask))),
  });
  return {
    location,
    ...methods,
    prune: async (before, runs) => {
      const hasMore = await methods.prune(before, runs);
      // The journal still contains removed data.
      if (!hasMore) await enqueue(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'), 0).catch(() => {});
      return hasMore;
    },
    close: async () => {
      isClosed = true;
      await queue.onIdle();
      ignoreErrors(() => database.close());
    },
  };
}

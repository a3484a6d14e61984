import { createHash, randomUUID } from 'node:crypto';
import PQueue from 'p-queue';
import { type Claims, createClaims } from './postgres/claims.ts';
import type { Address } from './postgres/connection/address.ts';
import type { Link } from './postgres/connection/client.ts';
import { createSession, type Session, transact } from './postgres/connection/session.ts';
import { createDriver, type Run } from './postgres/driver.ts';
import { openLink } from './postgres/layout/migrations.ts';
import { chunkMethods } from './postgres/results/chunks.ts';
import { append, batchesOf, putRecords } from './postgres/results/records.ts';
import type { ResultStore } from './result-store.ts';
import { resultMethods } from './results.ts';
import { numberOf, textOf } from './sqlite/row.ts';
import { checkRunId, closedStoreError, missingRunError } from './store-rules.ts';

export interface PostgresResultOptions {
  readonly retryMs?: number;
  readonly beatMs?: number;
  readonly hungMs?: number;
}

/** Opens results in a Postgres database, which many machines share. Throws STORE_FAILED. */
export async function openPostgresResults(
  address: Address,
  { retryMs = 30_000, beatMs = 5_000, hungMs = 30_000 }: PostgresResultOptions = {},
): Promise<ResultStore> {
  const { location } = address;
  const session: Session = createSession(await openLink(address), {
    ...{ address, retryMs, onReconnect: (link, lost) => claims.restore(link, lost) },
  });
  const queue = new PQueue({ concurrency: 1 });
  let closing: Promise<void> | undefined;
  const run: Run = async (work) => {
    if (closing !== undefined) throw closedStoreError(location);
    return await queue.add(async () => await session.run(work));
  };
  const claims: Claims = createClaims({
    ...{ location, holder: randomUUID(), beatMs, hungMs, answeredAt: session.answeredAt, run },
    attempt: async (work) => await queue.add(async () => await session.attempt(work)),
  });
  const close = async () => {
    await queue.onIdle();
    await claims.releaseAll();
    await session.close();
  };
  return {
    location,
    ...resultMethods(createDriver(location, run), {
      putAll: (records) =>
        run(async (link) => {
          const batches = batchesOf(records);
          const put = async () => {
            const missing = await putRecords(link, batches);
            if (missing !== undefined) throw missingRunError(missing, location);
          };
          await (batches.length > 1 ? transact(link, put) : put());
        }),
      append: (record) => run(append(record)),
    }),
    claimRun: async (id) => {
      checkRunId(id);
      // Rejects if the store is closed.
      return await run(async () => {}).then(() => claims.claim(claimOf(id)));
    },
    prune: async (before) => {
      const removed = await run((link) => removeRuns(link, before, claims.held()));
      // Piece by piece, so that no statement takes long and others get their turn.
      const text = 'SELECT signalbox.remove_results(20000) AS removed';
      while (numberOf((await run((link) => link.query({ text })))[0] ?? {}, 'removed') > 0);
      return removed;
    },
    chunks: chunkMethods({ location, run, claims }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** The claim of a suite run has a name that no pipeline run can have. */
function claimOf(id: string): string {
  const name = `suite..${id}`;
  return name.length <= 128 ? name : `suite..${createHash('sha256').update(id).digest('hex')}`;
}

async function removeRuns(link: Link, before: number, held: readonly string[]): Promise<number> {
  await link.query({ text: 'DELETE FROM signalbox.answers WHERE kept_at < $1', values: [before] });
  const old = await link.query({
    text: 'SELECT id FROM signalbox.result_runs WHERE created_at < $1 ORDER BY created_at, seq',
    values: [before],
  });
  const ids = old.map((row) => textOf(row, 'id')).filter((id) => !held.includes(claimOf(id)));
  const text = 'SELECT signalbox.remove_result_runs($1, $2) AS removed';
  const [row] = await link.query({ text, values: [ids, ids.map(claimOf)] });
  return numberOf(row ?? {}, 'removed');
}

import { createHash, randomUUID } from 'node:crypto';
import PQueue from 'p-queue';
import type { StoredResult } from './new-result.ts';
import { type Claims, createClaims } from './postgres/claims.ts';
import type { Address } from './postgres/connection/address.ts';
import type { Link } from './postgres/connection/client.ts';
import { createSession, type Session } from './postgres/connection/session.ts';
import { openLink } from './postgres/layout/migrations.ts';
import * as answers from './postgres/results/answer-rows.ts';
import { chunkMethods } from './postgres/results/chunk-methods.ts';
import * as records from './postgres/results/record-rows.ts';
import * as runs from './postgres/results/run-rows.ts';
import { checksumOf, fromKept, toKept, toKeptOrNull } from './postgres/rows.ts';
import { postgresRatings } from './ratings/postgres-ratings.ts';
import {
  type ReopeningStore,
  reopeningFromRow,
  replacedFromRow,
  replacedInPages,
} from './reopenings/reopening.ts';
import type { ResultStore } from './result-store.ts';
import { numberOf } from './sqlite/row.ts';
import { checkRunId, closedStoreError, duplicateRunError, missingRunError } from './store-rules.ts';

export interface PostgresResultOptions {
  /** How long a lost connection is tried to be had again, in ms. */
  readonly retryMs?: number;
  /** How often a process that holds runs is heard of, and after how long without that its claims are ended, in ms. */
  readonly beatMs?: number;
  readonly hungMs?: number;
}

/** Results in a Postgres database, which many processes on many machines may use at once. Throws STORE_FAILED. */
export async function openPostgresResults(
  address: Address,
  options: PostgresResultOptions = {},
): Promise<ResultStore> {
  const parts = createParts(await openLink(address), address, options);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await parts.queue.onIdle();
    await parts.claims.releaseAll();
    await parts.session.close();
  };
  const run: Run = async (work) => {
    if (closing !== undefined) throw closedStoreError(address.location);
    return await parts.run(work);
  };
  const { location } = address;
  return {
    location,
    ...runMethods({ location, run, claims: parts.claims }),
    ...recordMethods({ location, run }),
    ...postgresRatings({ location, run }),
    ...postgresReopenings({ location, run }),
    chunks: chunkMethods({ location, run, claims: parts.claims }),
    findAnswer: (key) => run((link) => answers.findAnswer(link, key)),
    keepAnswer: (key, text) => run((link) => answers.keepAnswer(link, { key, text, at: Date.now() })),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Does work on the connection after everything that was asked for before. Rejects with STORE_FAILED. */
type Run = <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;

interface Parts {
  readonly session: Session;
  readonly claims: Claims;
  readonly queue: PQueue;
  readonly run: Run;
}

function createParts(
  first: Link,
  address: Address,
  { retryMs = 30_000, beatMs = 5_000, hungMs = 30_000 }: PostgresResultOptions,
): Parts {
  const session: Session = createSession(first, {
    ...{ address, retryMs, onReconnect: (link, lost) => claims.restore(link, lost) },
  });
  const queue = new PQueue({ concurrency: 1 });
  const run: Run = async (work) => await queue.add(async () => await session.run(work));
  const attempt = async (work: (link: Link) => Promise<unknown>) =>
    await queue.add(async () => await session.attempt(work));
  const claims: Claims = createClaims({
    ...{ location: address.location, holder: randomUUID(), run, attempt, beatMs, hungMs },
    answeredAt: session.answeredAt,
  });
  return { session, claims, queue, run };
}

interface RunParts {
  readonly location: string;
  readonly run: Run;
  readonly claims: Claims;
}

function runMethods({ location, run, claims }: RunParts) {
  return {
    createRun: async (made) => {
      checkRunId(made.id);
      if (!(await run(runs.insertRun(made)))) throw duplicateRunError(made.id, location);
    },
    findRun: (id) => run((link) => runs.findRun(link, id)),
    listRuns: (filter) => run((link) => runs.listRuns(link, filter)),
    setRunEnd: async (id, end) => {
      if (!(await run((link) => runs.setEnd(link, id, end)))) throw missingRunError(id, location);
    },
    claimRun: async (id) => {
      checkRunId(id);
      // Refused when the store is closed.
      return await run(async () => {}).then(() => claims.claim(claimOf(id)));
    },
    prune: async (before) => {
      const removed = await run((link) => removeRuns(link, before, claims.held()));
      // Piece by piece, so that others have their turn and no statement takes long.
      while ((await run((link) => removeSome(link))) > 0);
      return removed;
    },
  } satisfies Partial<ResultStore>;
}

/** The name under which a run of a suite is claimed, which no run of a pipeline has. */
function claimOf(id: string): string {
  const name = `suite..${id}`;
  return name.length <= 128 ? name : `suite..${createHash('sha256').update(id).digest('hex')}`;
}

async function removeRuns(link: Link, before: number, held: readonly string[]): Promise<number> {
  await link.query({ text: 'DELETE FROM signalbox.answers WHERE kept_at < $1', values: [before] });
  const ids = (await runs.listBegunBefore(link, before)).filter((id) => !held.includes(claimOf(id)));
  const text = 'SELECT signalbox.remove_result_runs($1, $2) AS removed';
  const [row] = await link.query({ text, values: [ids, ids.map(claimOf)] });
  return numberOf(row ?? {}, 'removed');
}

async function removeSome(link: Link): Promise<number> {
  const [row] = await link.query({ text: 'SELECT signalbox.remove_results(20000) AS removed' });
  return numberOf(row ?? {}, 'removed');
}

function recordMethods({ location, run }: Pick<RunParts, 'location' | 'run'>) {
  const putAll: ResultStore['putAll'] = async (all) => {
    const missing = await run((link) => records.putAll(link, all));
    if (missing !== undefined) throw missingRunError(missing, location);
  };
  return {
    put: (record) => putAll([record]),
    putAll,
    append: (record) => run(records.append(record)),
    get: (runId, number, epoch) => run((link) => records.getRecord(link, { runId, number, epoch })),
    countRecords: (runId) => run((link) => records.countRecords(link, runId)),
    records: async function* (runId, { caseId } = {}): AsyncIterable<StoredResult> {
      for (let after = { runId, number: 0, epoch: 0 }; ; ) {
        const page = await run((link) => records.pageOf(link, after, caseId));
        yield* page;
        const last = page.at(-1);
        if (last === undefined) return;
        after = { runId, number: last.number, epoch: last.epoch };
      }
    },
  } satisfies Partial<ResultStore>;
}

interface ReopeningParts {
  readonly location: string;
  /** Does work on the connection after everything that was asked for before. Rejects with STORE_FAILED. */
  readonly run: <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;
}

/** Makes the methods over reopenings. What is asked again after a lost connection comes to the same. */
function postgresReopenings({ location, run }: ReopeningParts): ReopeningStore {
  return {
    reopenRun: async (runId, { number, scope, at }, numbers) => {
      const values = [toKept(runId), number, scope, at, numbers];
      const text = 'SELECT signalbox.reopen_result_run($1, $2, $3, $4, $5) AS found';
      const [row] = await run((link) => link.query({ text, values }));
      if (row?.['found'] !== true) throw missingRunError(runId, location);
    },
    reopenings: async (runId) => {
      const text = `SELECT * FROM signalbox.reopenings WHERE ${ofRun} ORDER BY number`;
      const rows = await run((link) => link.query({ text, values: [toKept(runId)] }));
      return rows.map((row) => reopeningFromRow(fromKept(row)));
    },
    replaced: (runId, { caseId } = {}) =>
      replacedInPages(async ({ reopening, number, epoch, seq }) => {
        const values = [toKept(runId), reopening, number, epoch, seq, toKeptOrNull(caseId ?? null)];
        const rows = await run((link) => link.query({ name: 'page_replaced', text: page, values }));
        return rows.map((row) => {
          const { digest, text } = row;
          const actual =
            typeof digest === 'string' && typeof text === 'string' ? checksumOf(digest, text) : null;
          return replacedFromRow(fromKept({ ...row, actual }));
        });
      }),
  };
}

const ofRun = 'run = (SELECT seq FROM signalbox.result_runs WHERE id = $1)';
const page = `SELECT seq, reopening, number, epoch, sum, case_id, digest, text FROM signalbox.replaced_results
  WHERE ${ofRun} AND (reopening, number, epoch, seq) > ($2, $3, $4, $5) AND ($6::text IS NULL OR case_id = $6)
  ORDER BY reopening, number, epoch, seq LIMIT 64`;

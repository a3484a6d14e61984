import { createHash } from 'node:crypto';
import type { ChunkClaim, ChunkProgress, NewChunk, NewResult, SuiteChunks } from '../../result-store.ts';
import type { Announce, Job, Transaction } from '../../shared-work.ts';
import { decodeRow, encodeText, numberOf, numberOrNull, textOf, textOrNull } from '../../sqlite/row.ts';
import { missingRunError } from '../../store-rules.ts';
import type { Claims } from '../claims.ts';
import type { Link } from '../connection/client.ts';
import { transact } from '../connection/session.ts';
import type { Run } from '../driver.ts';
import { inTransaction } from '../work/transaction.ts';
import { batchesOf, putRecords } from './records.ts';

export interface ChunkParts {
  readonly location: string;
  readonly run: Run;
  readonly claims: Claims;
}

export function chunkMethods({ location, run, claims }: ChunkParts): SuiteChunks {
  let announce: Announce = async () => false;
  const tell = async (work: (transaction: Transaction) => Promise<Job[]>): Promise<number> => {
    const { result, finish } = await run((link) =>
      inTransaction(link, async (transaction) => {
        const jobs = await work(transaction);
        if (jobs.length > 0) await announce(jobs, transaction);
        return jobs.length;
      }),
    );
    finish();
    return result;
  };
  return {
    announceBy: (given) => {
      announce = given;
    },
    share: async (runId, shared) => {
      if (!(await run((link) => share(link, runId, shared)))) throw missingRunError(runId, location);
    },
    add: async (runId, list) => void (await tell((transaction) => add(transaction, runId, list))),
    progress: (runId) => run((link) => progress(link, runId)),
    announceIdle: (runId) => tell((transaction) => takeIdle(transaction, runId, AGAIN_AFTER_MS)),
    tallies: async function* (runId) {
      for (let behind = 0; ; ) {
        const page = await run((link) => pageOfTallies(link, runId, behind));
        for (const { tally } of page) yield tally;
        const last = page.at(-1);
        if (last === undefined) return;
        behind = last.number;
      }
    },
    claim: (runId, number) => claimChunk({ run, claims, location }, runId, number),
  };
}

/** Repeated, because a job may be lost or its worker killed. */
const AGAIN_AFTER_MS = 3_000;

async function claimChunk(
  { run, claims }: ChunkParts,
  runId: string,
  number: number,
): Promise<ChunkClaim | undefined> {
  const name = claimOf(runId, number);
  const claim = await claims.claim(name);
  if (claim === undefined) return undefined;
  const epoch = claims.epochOf(name);
  try {
    const open = await run((link) => findOpen(link, runId, number));
    if (open !== undefined && epoch !== null)
      return {
        ...claim,
        ...open,
        end: (records, tally) => run((link) => endChunk(link, { runId, number, epoch, records, tally })),
        fail: (failure) => run((link) => countFailure(link, runId, number, failure)),
      };
  } catch (error) {
    await claim.release();
    throw error;
  }
  await claim.release();
  return undefined;
}

/** These functions reject with the error of Postgres, and Damaged. */

/** The name of a chunk's claim, which no run can have. */
function claimOf(runId: string, number: number): string {
  const name = `chunk..${runId}..${number}`;
  return name.length <= 128 ? name : `chunk..${createHash('sha256').update(name).digest('hex')}`;
}

async function share(
  link: Link,
  runId: string,
  { build, work }: { readonly build: string; readonly work: string },
): Promise<boolean> {
  const rows = await link.query({
    text: `INSERT INTO signalbox.shared_suites (run, build, work)
      SELECT id, $2, $3 FROM signalbox.result_runs WHERE id = $1
      ON CONFLICT (run) DO UPDATE SET build = excluded.build, work = excluded.work RETURNING run`,
    values: [encodeText(runId), build, encodeText(work)],
  });
  return rows.length > 0;
}

async function add(transaction: Transaction, runId: string, chunks: readonly NewChunk[]): Promise<Job[]> {
  const rows = await transaction.query({
    text: `WITH made AS (
        INSERT INTO signalbox.suite_chunks (run, number, claim, rows, place)
          SELECT $1, n, c, r, p FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS each (n, c, r, p)
          ON CONFLICT (run, number) DO NOTHING RETURNING number)
      SELECT made.number, build FROM made CROSS JOIN signalbox.shared_suites WHERE run = $1 ORDER BY number`,
    values: [
      encodeText(runId),
      chunks.map(({ number }) => number),
      chunks.map(({ number }) => claimOf(runId, number)),
      chunks.map(({ rows: count }) => count),
      chunks.map(({ place }) => encodeText(place)),
    ],
  });
  return rows.map((row) => toJob(runId, numberOf(row, 'number'), textOf(row, 'build')));
}

function toJob(runId: string, number: number, queue: string): Job {
  return { kind: 'chunk', id: `${runId}/${number}`, queue };
}

async function progress(link: Link, runId: string): Promise<ChunkProgress> {
  const [row] = await link.query({
    name: 'chunk_progress',
    text: `SELECT count(*) AS chunks, count(tally) AS done, coalesce(sum(rows), 0)::bigint AS rows,
        coalesce(sum(rows) FILTER (WHERE tally IS NOT NULL), 0)::bigint AS done_rows
      FROM signalbox.suite_chunks WHERE run = $1`,
    values: [encodeText(runId)],
  });
  const [worst] = await link.query({
    name: 'chunk_worst',
    text: `SELECT number, failures, failure FROM signalbox.suite_chunks
      WHERE run = $1 AND tally IS NULL AND failures > 0 ORDER BY failures DESC, number LIMIT 1`,
    values: [encodeText(runId)],
  });
  const of = (name: string) => numberOf(row ?? {}, name);
  return {
    ...{ chunks: of('chunks'), done: of('done'), rows: of('rows'), doneRows: of('done_rows') },
    worst: worst && {
      ...{ number: numberOf(worst, 'number'), failures: numberOf(worst, 'failures') },
      failure: textOf(decodeRow(worst), 'failure'),
    },
  };
}

async function takeIdle(transaction: Transaction, runId: string, afterMs: number): Promise<Job[]> {
  const rows = await transaction.query({ text: idle, values: [encodeText(runId), afterMs, MOST_JOBS] });
  return rows.map((row) => toJob(runId, numberOf(row, 'number'), textOf(row, 'build')));
}

const MOST_JOBS = 1_000;

const idle = `
WITH live AS (
  SELECT c.run_id FROM signalbox.claims AS c JOIN signalbox.holders AS h ON h.id = c.holder
    JOIN pg_stat_activity AS a ON a.pid = h.pid AND a.backend_start = h.backend_start
), told AS (
  UPDATE signalbox.suite_chunks SET announced_at = clock_timestamp() WHERE run = $1 AND number IN (
    SELECT number FROM signalbox.suite_chunks WHERE run = $1 AND tally IS NULL
      AND announced_at < now() - $2::bigint * interval '1 millisecond'
      AND claim NOT IN (SELECT run_id FROM live) ORDER BY announced_at LIMIT $3)
  RETURNING number)
SELECT number, build FROM told CROSS JOIN signalbox.shared_suites WHERE run = $1 ORDER BY number`;

async function pageOfTallies(
  link: Link,
  runId: string,
  behind: number,
): Promise<{ readonly number: number; readonly tally: string }[]> {
  const rows = await link.query({
    text: `SELECT number, tally FROM signalbox.suite_chunks WHERE run = $1 AND number > $2 AND tally IS NOT NULL
      ORDER BY number LIMIT 16`,
    values: [encodeText(runId), behind],
  });
  return rows.map(decodeRow).map((row) => ({ number: numberOf(row, 'number'), tally: textOf(row, 'tally') }));
}

async function findOpen(
  link: Link,
  runId: string,
  number: number,
): Promise<{ readonly place: string; readonly work: string } | undefined> {
  const [row] = await link.query({
    text: `SELECT c.place, s.work FROM signalbox.suite_chunks AS c JOIN signalbox.shared_suites AS s USING (run)
      JOIN signalbox.result_runs AS r ON r.id = c.run
      WHERE c.run = $1 AND c.number = $2 AND c.tally IS NULL AND r.status = 'running'`,
    values: [encodeText(runId), number],
  });
  if (row === undefined) return undefined;
  const kept = decodeRow(row);
  return { place: textOf(kept, 'place'), work: textOf(kept, 'work') };
}

interface ChunkEnd {
  readonly runId: string;
  readonly number: number;
  readonly epoch: number;
  readonly records: readonly NewResult[];
  readonly tally: string;
}

/**
 * Stores everything in one transaction. Returns false and stores nothing if the claim is lost; true if the chunk was
 * stored before.
 */
async function endChunk(link: Link, { runId, number, epoch, records, tally }: ChunkEnd): Promise<boolean> {
  try {
    return await transact(link, async () => {
      // Locked, so that another process with the same chunk waits and then finds it done.
      const [row] = await link.query({
        text: `SELECT tally, claim, (SELECT epoch FROM signalbox.claims WHERE run_id = claim) AS epoch
          FROM signalbox.suite_chunks WHERE run = $1 AND number = $2 FOR UPDATE`,
        values: [encodeText(runId), number],
      });
      if (row === undefined || numberOrNull(row, 'epoch') !== epoch) throw new NotKept(false);
      if (textOrNull(row, 'tally') !== null) throw new NotKept(true);
      if ((await putRecords(link, batchesOf(records))) !== undefined) throw new NotKept(false);
      await link.query({
        text: 'UPDATE signalbox.suite_chunks SET tally = $3 WHERE run = $1 AND number = $2',
        values: [encodeText(runId), number, encodeText(tally)],
      });
      return true;
    });
  } catch (error) {
    if (error instanceof NotKept) return error.isThere;
    throw error;
  }
}

class NotKept extends Error {
  readonly isThere: boolean;

  constructor(isThere: boolean) {
    super('nothing was kept');
    this.isThere = isThere;
  }
}

async function countFailure(link: Link, runId: string, number: number, failure: string): Promise<void> {
  await link.query({
    text: `UPDATE signalbox.suite_chunks SET failures = failures + 1, failure = $3
      WHERE run = $1 AND number = $2 AND tally IS NULL`,
    values: [encodeText(runId), number, encodeText(failure)],
  });
}

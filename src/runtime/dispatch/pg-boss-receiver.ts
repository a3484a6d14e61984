import PQueue from 'p-queue';
import type { Job as BossJob, PgBoss } from 'pg-boss';
import type { Address } from '../../store/postgres/connection/address.ts';
import { connect, type Link } from '../../store/postgres/connection/client.ts';
import { isLostConnection, toPostgresError } from '../../store/postgres/connection/postgres-error.ts';
import { createSession, type Session, transact } from '../../store/postgres/connection/session.ts';
import type { Job } from '../../store/shared-work.ts';
import type { Row } from '../../store/sqlite/row.ts';
import type { JobHandler, TakeJobs, Working, WorkOptions } from './dispatcher.ts';
import { type FetchedJob, type JobLoop, type JobSource, startJobLoop } from './job-loop.ts';
import { loadPgBoss } from './load-pg-boss.ts';
import { CHANNEL, common, notify, queueOptions, readData, toInsert } from './pg-boss-jobs.ts';

/** Takes jobs over a connection of its own, on which it is told of them too. Makes the tables and queues. Rejects with STORE_FAILED. */
export async function createReceiver(
  address: Address,
  handler: JobHandler,
  options: WorkOptions,
): Promise<Working> {
  const { PgBoss } = await loadPgBoss();
  let loop: JobLoop | undefined;
  const listen = async (link: Link) => {
    link.onNotification((queue) => loop?.wake(queue));
    await link.query({ text: `LISTEN ${CHANNEL}` });
  };
  const session = await openSession(address, async (link) => {
    await listen(link);
    // What was told meanwhile was told to nobody.
    loop?.wake();
  });
  const turns = new PQueue({ concurrency: 1 });
  const run = async <Result>(work: (link: Link) => Promise<Result>): Promise<Result> =>
    await turns.add(() => session.run(work));
  const boss = new PgBoss({ ...common, db: databaseOf(run), ...supervision });
  boss.on('error', () => {});
  try {
    await run(listen);
    await boss.start();
    for (const queue of options.queues) await boss.createQueue(queue, queueOptions);
  } catch (error) {
    await boss.stop({ graceful: false, close: false }).catch(() => {});
    await session.close();
    throw toPostgresError(error, address);
  }
  loop = startJobLoop(sourceOf(boss, run, options.take), handler, { ...options, ...pace });
  return {
    ...loop,
    close: async () => {
      loop.stop();
      await loop.ended;
      await boss.stop({ graceful: false, close: false }).catch(() => {});
      await turns.onIdle();
      await session.close();
    },
  };
}

/** A worker that is gone is known to be after 15 to 25 seconds; the sweep finds its runs before. */
const supervision = {
  superviseIntervalSeconds: 10,
  monitorIntervalSeconds: 10,
  maintenanceIntervalSeconds: 300,
};
const pace = { pollMs: 5_000, touchMs: 5_000 };
const RETRY_MS = 30_000;

type Run = <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;

async function openSession(address: Address, onReconnect: (link: Link) => Promise<void>): Promise<Session> {
  try {
    return createSession(await connect(address), { address, retryMs: RETRY_MS, onReconnect });
  } catch (error) {
    throw toPostgresError(error, address);
  }
}

/** Statements that stand alone. */
function databaseOf(run: Run) {
  return {
    executeSql: async (text: string, values: unknown[] = []) => ({
      rows: await asItIs(run, (link) => link.query({ text, values })),
    }),
  };
}

/** Statements of a transaction that somebody else has begun, and ends. */
function databaseWithin(link: Link) {
  return {
    executeSql: async (text: string, values: unknown[] = []) => ({
      rows: [...(await link.query({ text, values }))],
    }),
  };
}

/**
 * What Postgres says about a statement reaches pg-boss in its own words, by which it tells harmless errors from others. A text of
 * its own that begins a transaction and fails, as when several workers make the tables at once, leaves that transaction open.
 */
async function asItIs(run: Run, ask: (link: Link) => Promise<readonly Row[]>): Promise<Row[]> {
  const answer = await run(async (link) => {
    try {
      return { rows: await ask(link) };
    } catch (error) {
      if (link.isLost() || isLostConnection(error)) throw error;
      await link.query({ text: 'ROLLBACK' });
      return { error };
    }
  });
  if ('rows' in answer) return [...answer.rows];
  throw answer.error;
}

function sourceOf(boss: PgBoss, run: Run, take: TakeJobs): JobSource<Attempt> {
  return {
    fetch: (queue, most) =>
      run((link) =>
        transact(link, async () => {
          const db = databaseWithin(link);
          const found = await boss.fetch<object>(queue, { batchSize: most, db });
          if (found.length === 0) return { jobs: [], isFull: false };
          const fetched = found.map((job) => toFetched(queue, job));
          const transaction = { query: link.query, afterCommit: () => {} };
          const taken = await take(fetched, transaction);
          const isTaken = (job: Job) => taken.some(({ kind, id }) => kind === job.kind && id === job.id);
          const over = fetched.filter((job) => !isTaken(job)).map(({ ticket }) => ticket);
          if (over.length > 0) await boss.complete(queue, over, null, { db });
          return { jobs: fetched.filter(isTaken), isFull: fetched.length === most };
        }),
      ),
    complete: async ({ queue, ticket }) => void (await boss.complete(queue, ticket)),
    retry: async (job, afterMs) => {
      const { queue } = job;
      await run((link) =>
        transact(link, async () => {
          const db = databaseWithin(link);
          await boss.complete(queue, job.ticket, null, { db });
          await boss.insert(queue, [toInsert(job, afterMs)], { db });
          await notify(link, queue);
        }),
      );
    },
    touch: async (jobs) => {
      for (const [queue, each] of Map.groupBy(jobs, (job) => job.queue))
        await boss.touch(
          queue,
          each.map(({ ticket }) => ticket),
        );
    },
  };
}

interface Attempt {
  readonly id: string;
  readonly retryCount: number;
}

function toFetched(queue: string, { id, retryCount, data }: BossJob<object>): FetchedJob<Attempt> {
  return { queue, ...readData(data), ticket: { id, retryCount } };
}

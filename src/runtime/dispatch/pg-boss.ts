import PQueue from 'p-queue';
import type { Job as BossJob, ConstructorOptions, JobInsert, PgBoss } from 'pg-boss';
import { isObject } from '../../base/json/json.ts';
import { loadPackage } from '../../base/optional-package.ts';
import type { Address } from '../../store/postgres/connection/address.ts';
import { connect, type Link } from '../../store/postgres/connection/client.ts';
import { isLostConnection, toPostgresError } from '../../store/postgres/connection/postgres-error.ts';
import { createSession, type Session, transact } from '../../store/postgres/connection/session.ts';
import { orNothing } from '../../store/postgres/work/transaction.ts';
import type { Announce, Job, Transaction } from '../../store/shared-work.ts';
import type { Row } from '../../store/sqlite/row.ts';
import type { Dispatcher, JobHandler, TakeJobs, Working, WorkOptions } from './dispatcher.ts';
import { type FetchedJob, type JobLoop, type JobSource, startJobLoop } from './job-loop.ts';

const SCHEMA = 'signalbox_jobs';

const CHANNEL = 'signalbox_jobs';

/** Notifications of pg-boss itself leave jobs unfetched, so they are off. */
const common: ConstructorOptions = {
  schema: SCHEMA,
  schedule: false,
  registerInstance: false,
  useListenNotify: false,
  openTelemetry: { enabled: false },
};

const queueOptions = {
  // At most one job of a run waits. Several workers may fetch one and find the run claimed.
  policy: 'short',
  heartbeatSeconds: 15,
  expireInSeconds: 24 * 3600,
  retryLimit: 1_000_000,
  retryDelay: 1,
  deleteAfterSeconds: 600,
} as const;

function toInsert({ kind, id }: Job, afterMs = 0): JobInsert {
  return {
    data: { kind, id },
    singletonKey: `${kind} ${id}`,
    ...(afterMs > 0 && { startAfter: Math.max(1, Math.ceil(afterMs / 1_000)) }),
  };
}

function readData(data: unknown): Pick<Job, 'kind' | 'id'> {
  const read: unknown = typeof data === 'string' ? JSON.parse(data) : data;
  const { kind, id } = isObject(read) ? read : {};
  if ((kind === 'run' || kind === 'chunk') && typeof id === 'string') return { kind, id };
  throw new TypeError('a job has a kind that this version of Signalbox does not know');
}

async function notify(transaction: Pick<Transaction, 'query'>, queue: string): Promise<void> {
  await transaction.query({ text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, queue] });
}

export function openPgBoss(address: Address, report: (error: unknown) => void): Dispatcher {
  const sender = createSender(report);
  return {
    announce: sender.announce,
    work: async (handler, options) => await createReceiver(address, handler, options),
    close: sender.close,
  };
}

interface Sender {
  readonly announce: Announce;
  close(): Promise<void>;
}

/**
 * Inserts jobs within transactions of callers, over their connection only. It creates no tables or queues. Before the
 * first worker has run, nothing is announced; the sweep of that worker finds waiting runs.
 */
function createSender(report: (error: unknown) => void): Sender {
  let boss: Promise<PgBoss> | undefined;
  let current: Transaction | undefined;
  const db = {
    executeSql: async (text: string, values: unknown[] = []) => {
      // Statements that pg-boss runs on its own can wait.
      if (current === undefined) throw new Error('there is no transaction');
      return { rows: [...(await current.query({ text, values }))] };
    },
  };
  const open = () => {
    boss ??= openBoss(db).catch((error: unknown) => {
      boss = undefined;
      throw error;
    });
    return boss;
  };
  const turns = new PQueue({ concurrency: 1 });
  const announceNow = async (jobs: readonly Job[], transaction: Transaction): Promise<boolean> => {
    const [installed] = await transaction.query({ text: look });
    if (installed?.['there'] !== true) return false;
    current = transaction;
    const opened = await open();
    let isComplete = true;
    for (const [queue, each] of Map.groupBy(jobs, (job) => job.queue)) {
      const [known] = await transaction.query({ text: findQueue, values: [queue] });
      if (known === undefined) {
        isComplete = false;
        continue;
      }
      await opened.insert(
        queue,
        each.map((job) => toInsert(job)),
        { db },
      );
      await notify(transaction, queue);
    }
    return isComplete;
  };
  return {
    announce: (jobs, transaction) =>
      turns.add(async () => {
        try {
          return (await orNothing(transaction, () => announceNow(jobs, transaction), report)) ?? false;
        } finally {
          current = undefined;
        }
      }),
    close: async () => {
      const opened = await boss?.catch(() => undefined);
      await opened?.stop({ graceful: false, close: false }).catch(() => {});
    },
  };
}

async function openBoss(db: {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}): Promise<PgBoss> {
  const { PgBoss } = await loadPgBoss();
  const boss = new PgBoss({ ...common, db, migrate: false, supervise: false });
  boss.on('error', () => {});
  return await boss.start();
}

const look = `SELECT EXISTS (
  SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = '${SCHEMA}' AND c.relname = 'queue') AS there`;
const findQueue = `SELECT name FROM ${SCHEMA}.queue WHERE name = $1`;

async function createReceiver(address: Address, handler: JobHandler, options: WorkOptions): Promise<Working> {
  const { PgBoss } = await loadPgBoss();
  let loop: JobLoop | undefined;
  const listen = async (link: Link) => {
    link.onNotification((queue) => loop?.wake(queue));
    await link.query({ text: `LISTEN ${CHANNEL}` });
  };
  const session = await openSession(address, async (link) => {
    await listen(link);
    // Notifications sent while disconnected are lost.
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

/** pg-boss notices a dead worker after 15 to 25 seconds; the sweep finds its runs earlier. */
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

function databaseOf(run: Run) {
  return {
    executeSql: async (text: string, values: unknown[] = []) => ({
      rows: await asItIs(run, (link) => link.query({ text, values })),
    }),
  };
}

function databaseWithin(link: Link) {
  return {
    executeSql: async (text: string, values: unknown[] = []) => ({
      rows: [...(await link.query({ text, values }))],
    }),
  };
}

/**
 * pg-boss recognizes harmless errors of Postgres, so they are passed unchanged. A failed text may leave the transaction
 * that it began open.
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

async function loadPgBoss(): Promise<typeof import('pg-boss')> {
  const need = 'announces runs to the workers of a Postgres store';
  return await loadPackage(import('pg-boss'), { name: 'pg-boss', need, code: 'STORE_FAILED' });
}

import PQueue from 'p-queue';
import type { PgBoss } from 'pg-boss';
import { orNothing } from '../../store/postgres/work/transaction.ts';
import type { Announce, Job, Transaction } from '../../store/shared-work.ts';
import { loadPgBoss } from './load-pg-boss.ts';
import { common, notify, SCHEMA, toInsert } from './pg-boss-jobs.ts';

export interface Sender {
  readonly announce: Announce;
  /** Never rejects. */
  close(): Promise<void>;
}

/**
 * Puts jobs into queues in the transactions of others, over their connection and no other. It makes neither tables nor queues:
 * where no worker ever was, nobody is told, and the sweep of the first one finds what waits.
 */
export function createSender(report: (error: unknown) => void): Sender {
  let boss: Promise<PgBoss> | undefined;
  let current: Transaction | undefined;
  const db = {
    executeSql: async (text: string, values: unknown[] = []) => {
      // What it does now and then of its own accord can wait.
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
  /** There is one place for the transaction. */
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

import type { ConstructorOptions, JobInsert } from 'pg-boss';
import { isObject } from '../../base/json/json.ts';
import type { Job, Transaction } from '../../store/shared-work.ts';

/** Beside the schema of the store, and of no other program's pg-boss. */
export const SCHEMA = 'signalbox_jobs';

/** The channel on which workers are told in which queue there is something. */
export const CHANNEL = 'signalbox_jobs';

/** What goes for everybody: neither notifications of its own, which leave jobs unfetched, nor schedules, nor telemetry. */
export const common: ConstructorOptions = {
  schema: SCHEMA,
  schedule: false,
  registerInstance: false,
  useListenNotify: false,
  openTelemetry: { enabled: false },
};

/** Of each queue. A job may take a day at most, as long as its worker is heard of. */
export const queueOptions = {
  // At most one job of a run waits, and any number of workers may find out that somebody else has it.
  policy: 'short',
  heartbeatSeconds: 15,
  expireInSeconds: 24 * 3600,
  retryLimit: 1_000_000,
  retryDelay: 1,
  deleteAfterSeconds: 600,
} as const;

export function toInsert({ kind, id }: Job, afterMs = 0): JobInsert {
  return {
    data: { kind, id },
    singletonKey: `${kind} ${id}`,
    ...(afterMs > 0 && { startAfter: Math.max(1, Math.ceil(afterMs / 1_000)) }),
  };
}

/** What stands in a job. Throws for one that no Signalbox of this version made. */
export function readData(data: unknown): Pick<Job, 'kind' | 'id'> {
  const read: unknown = typeof data === 'string' ? JSON.parse(data) : data;
  const { kind, id } = isObject(read) ? read : {};
  if ((kind === 'run' || kind === 'chunk') && typeof id === 'string') return { kind, id };
  throw new TypeError('a job is of no kind that this version of Signalbox knows');
}

/** Tells workers of the queue, when the transaction is committed. */
export async function notify(transaction: Pick<Transaction, 'query'>, queue: string): Promise<void> {
  await transaction.query({ text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, queue] });
}

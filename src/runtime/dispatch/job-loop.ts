import { toRuntimeError } from '../../base/errors.ts';
import type { Job } from '../../store/shared-work.ts';
import type { JobHandler, WorkOptions } from './dispatcher.ts';

/** A fetched job. It belongs to this process until it ends or is not touched for too long. */
export interface FetchedJob<Ticket> extends Job {
  readonly ticket: Ticket;
}

export interface JobSource<Ticket> {
  fetch(
    queue: string,
    most: number,
  ): Promise<{ readonly jobs: readonly FetchedJob<Ticket>[]; readonly isFull: boolean }>;
  complete(job: FetchedJob<Ticket>): Promise<void>;
  retry(job: FetchedJob<Ticket>, afterMs: number): Promise<void>;
  touch(jobs: readonly FetchedJob<Ticket>[]): Promise<void>;
}

export interface JobLoop {
  wake(queue?: string): void;
  busy(): number;
  stop(): void;
  idle(): Promise<void>;
  abort(): void;
  readonly ended: Promise<void>;
}

export interface LoopOptions extends Omit<WorkOptions, 'take'> {
  readonly pollMs: number;
  readonly touchMs: number;
}

export function startJobLoop<Ticket>(
  source: JobSource<Ticket>,
  handler: JobHandler,
  options: LoopOptions,
): JobLoop {
  const { queues, concurrency, report, pollMs, touchMs } = options;
  const active = new Map<FetchedJob<Ticket>, Promise<void>>();
  const due = new Set(queues);
  const bell = createBell();
  const closing = new AbortController();
  let isStopped = false;
  const wake = (queue?: string) => {
    if (queue === undefined) for (const each of queues) due.add(each);
    else if (queues.includes(queue)) due.add(queue);
    bell.ring();
  };
  const finish = async (job: FetchedJob<Ticket>) => {
    try {
      const handled = await handler(job, closing.signal);
      if (handled === 'done') return await source.complete(job);
      await retry(job, handled.retryMs);
    } catch (error) {
      report(`${job.kind} ${job.id}: ${toRuntimeError(error).message}`);
      await retry(job, RETRY_MS).catch(() => {});
    }
  };
  const retry = async (job: FetchedJob<Ticket>, afterMs: number) => {
    await source.retry(job, afterMs);
    setTimeout(() => wake(job.queue), afterMs + 20).unref();
  };
  const start = (job: FetchedJob<Ticket>) => {
    const work = finish(job)
      .catch(() => {})
      .finally(() => {
        active.delete(job);
        bell.ring();
      });
    active.set(job, work);
  };
  const fetchFrom = async (queue: string, free: number) => {
    due.delete(queue);
    const { jobs, isFull } = await source.fetch(queue, free);
    if (isFull) due.add(queue);
    for (const job of jobs) start(job);
  };
  const loop = async () => {
    let isReported = false;
    while (!isStopped) {
      const free = concurrency - active.size;
      const [queue] = due;
      if (free === 0 || queue === undefined) {
        if (!(await bell.wait(pollMs * (0.75 + Math.random() / 2)))) wake();
        continue;
      }
      try {
        await fetchFrom(queue, free);
        isReported = false;
      } catch (error) {
        due.add(queue);
        if (!isReported) report(`jobs cannot be fetched: ${toRuntimeError(error).message}`);
        isReported = true;
        await bell.wait(RETRY_MS);
      }
    }
  };
  const touching = setInterval(() => {
    const jobs = [...active.keys()];
    // A job that was not touched is delivered again and finds its run claimed.
    if (jobs.length > 0) source.touch(jobs).catch(() => {});
  }, touchMs);
  const ended = loop().finally(() => clearInterval(touching));
  return {
    ...{ wake, ended },
    busy: () => active.size,
    stop: () => {
      isStopped = true;
      bell.ring();
    },
    idle: async () => {
      await ended;
      while (active.size > 0) await Promise.all(active.values());
    },
    abort: () => closing.abort(),
  };
}

const RETRY_MS = 2_000;

/** Interrupts a pause. A ring without a waiter is kept for the next one. */
function createBell() {
  let hasRung = false;
  let answer: (() => void) | undefined;
  return {
    ring: () => {
      hasRung = true;
      answer?.();
    },
    wait: async (ms: number): Promise<boolean> => {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          answer = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      answer = undefined;
      const rang = hasRung;
      hasRung = false;
      return rang;
    },
  };
}

import { parentPort, Worker } from 'node:worker_threads';
import { type RuntimeError, toFault, toRuntimeError } from '../../../base/errors.ts';
import type { Connection } from '../connection.ts';
import { isBusy, toStoreError } from '../store-error.ts';

/** A thread that answers one request after another. */
export interface Thread<Request, Reply> {
  hasEnded(): boolean;
  /** One at a time. Rejects with what `endedError` makes when the thread ends before it has answered. */
  ask(request: Request): Promise<Reply>;
  /** Asks it to end, by a null, and waits until it has. Never rejects. */
  close(): Promise<void>;
}

export interface ThreadOptions {
  /** The module that it runs. */
  readonly address: URL;
  readonly name: string;
  readonly data: unknown;
  /** What went wrong when it has ended before its time. */
  readonly endedError: (why: string) => RuntimeError;
}

/**
 * Starts a thread, and waits for its first message. It keeps the process alive only while it has something to do. Rejects with
 * what `endedError` makes.
 */
export async function startThread<Request, Reply>({
  address,
  name,
  data,
  endedError,
}: ThreadOptions): Promise<Thread<Request, Reply>> {
  // The thread gets nothing of this process's environment and options.
  const worker = new Worker(address, { name, env: {}, execArgv: [], workerData: data });
  worker.unref();
  const ended = Promise.withResolvers<void>();
  let next = Promise.withResolvers<Reply>();
  let why: string | undefined;
  const end = (reason: string) => {
    why ??= reason;
    next.reject(endedError(why));
    ended.resolve();
  };
  // Nobody may be waiting for an answer when it ends.
  next.promise.catch(() => {});
  worker.on('message', (reply: Reply) => next.resolve(reply));
  worker.on('error', (error) => end(toRuntimeError(error).message));
  worker.on('exit', (code) => end(`its exit code is ${code}`));
  await next.promise;
  return {
    hasEnded: () => why !== undefined,
    ask: async (request) => {
      if (why !== undefined) throw endedError(why);
      next = Promise.withResolvers<Reply>();
      worker.ref();
      worker.postMessage(request);
      try {
        return await next.promise;
      } finally {
        worker.unref();
      }
    },
    close: async () => {
      if (why !== undefined) return;
      worker.ref();
      worker.postMessage(null);
      await ended.promise;
    },
  };
}

/** A thread's own connection to a file, and how long it waits for the locks of others. */
interface ThreadConnection {
  readonly connection: Connection;
  /** As error messages name it. */
  readonly file: string;
  readonly waitMs: number;
}

/**
 * Says that this thread is ready, and answers each message with what `perform` makes of it, or with the fault that it throws; null
 * closes the connection and ends the thread.
 */
export function answerWork<Work>(
  { connection, file, waitMs }: ThreadConnection,
  perform: (work: Work) => object,
): void {
  const answer = (work: Work) => {
    try {
      return { status: 'done', ...waitWhileBusy(() => perform(work), waitMs) };
    } catch (error) {
      return { status: 'failed', fault: toFault(toStoreError(error, file)) };
    }
  };
  parentPort?.on('message', (work: Work | null) => {
    if (work !== null) return parentPort?.postMessage(answer(work));
    connection.database.close();
    parentPort?.close();
  });
  parentPort?.postMessage({ status: 'ready' });
}

/** As `retryWhileBusy`, on a thread with which nobody else waits. */
export function waitWhileBusy<Result>(attempt: () => Result, waitMs: number): Result {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 25)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    Atomics.wait(nothing, 0, 0, pauseMs * (0.5 + Math.random()));
  }
}

const nothing = new Int32Array(new SharedArrayBuffer(4));

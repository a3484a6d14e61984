import { parentPort, Worker } from 'node:worker_threads';
import { type RuntimeError, toFault, toRuntimeError } from '../../../base/errors.ts';
import type { Connection } from '../connection.ts';
import { isBusy, toStoreError } from '../store-error.ts';

export interface Thread<Request, Reply> {
  hasEnded(): boolean;
  /** One request at a time. Rejects with `endedError` if the thread ends first. */
  ask(request: Request): Promise<Reply>;
  /** Sends null, and waits for the end of the thread. Never rejects. */
  close(): Promise<void>;
}

export interface ThreadOptions {
  readonly address: URL;
  readonly name: string;
  readonly data: unknown;
  readonly endedError: (why: string) => RuntimeError;
}

/**
 * Starts a thread, and waits for its first message. It keeps the process alive only while it works. Rejects with
 * `endedError`.
 */
export async function startThread<Request, Reply>({
  address,
  name,
  data,
  endedError,
}: ThreadOptions): Promise<Thread<Request, Reply>> {
  // The thread gets no environment or options of this process.
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

interface ThreadConnection {
  readonly connection: Connection;
  readonly file: string;
  readonly waitMs: number;
}

/**
 * Reports that the thread is ready, then answers each message with the result or error of `perform`; null ends the
 * thread.
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

/** Like `retryWhileBusy`, but blocks the thread. */
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

import { parentPort } from 'node:worker_threads';
import { toFault } from '../../../base/errors.ts';
import type { Connection } from '../connection.ts';
import { isBusy, toStoreError } from '../store-error.ts';

/** A thread's own connection to a file, and how long it waits for the locks of others. */
export interface ThreadConnection {
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

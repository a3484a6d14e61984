import { parentPort, workerData } from 'node:worker_threads';
import { toFault } from '../../../errors.ts';
import { type Connection, joinConnection } from '../connection.ts';
import { isBusy, toStoreError } from '../store-error.ts';
import type { Answer, Change } from './change.ts';
import { makeChanges, openTables } from './make-change.ts';
import type { ThreadData, ThreadReply, ThreadRequest } from './thread-message.ts';

// The thread that `thread-writer.ts` starts: lists of changes come in, and each is answered when it is on the disk.

const { file, identity, waitMs }: ThreadData = workerData;
const connection = joinConnection(file, identity);
const tables = openTables(connection);

parentPort?.on('message', (request: ThreadRequest) => {
  if (request !== null) reply(answer(request));
  else close(connection);
});
reply({ status: 'ready' });

function answer(changes: readonly Change[]): ThreadReply {
  try {
    return { status: 'done', answers: waitWhileBusy(() => makeChanges(connection, tables, changes)) };
  } catch (error) {
    return { status: 'failed', fault: toFault(toStoreError(error, file)) };
  }
}

/** As on the main thread, except that nobody else waits with this one. */
function waitWhileBusy(attempt: () => Answer[]): Answer[] {
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

function close({ database }: Connection): void {
  database.close();
  parentPort?.close();
}

function reply(message: ThreadReply): void {
  parentPort?.postMessage(message);
}

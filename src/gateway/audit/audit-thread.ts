import { parentPort, workerData } from 'node:worker_threads';
import { toFault } from '../../errors.ts';
import { joinConnection } from '../../store/sqlite/connection.ts';
import { isBusy, toStoreError } from '../../store/sqlite/store-error.ts';
import { openChain } from './chain-writer.ts';
import { doWork } from './do-work.ts';
import type { AuditDone, AuditReply, AuditThreadData, AuditWork } from './writer-message.ts';

// The thread that `writer.ts` starts: work comes in, and is answered when it is on the disk.

const { file, identity, keys, waitMs }: AuditThreadData = workerData;
const connection = joinConnection(file, identity);
const chain = waitWhileBusy(() =>
  openChain(connection, keys, () => {
    throw new Error('the chain is gone');
  }),
);

parentPort?.on('message', (work: AuditWork | null) => {
  if (work === null) close();
  else reply(answer(work));
});
reply({ status: 'ready' });

function answer(work: AuditWork): AuditReply {
  try {
    const done: AuditDone = waitWhileBusy(() => doWork(chain, work));
    return { status: 'done', ...done };
  } catch (error) {
    return { status: 'failed', fault: toFault(toStoreError(error, file)) };
  }
}

/** Nobody else waits with this thread. */
function waitWhileBusy<Result>(attempt: () => Result): Result {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 25)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    Atomics.wait(nothing(), 0, 0, pauseMs * (0.5 + Math.random()));
  }
}

function nothing(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4));
}

function close(): void {
  connection.database.close();
  parentPort?.close();
}

function reply(message: AuditReply): void {
  parentPort?.postMessage(message);
}

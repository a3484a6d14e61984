import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { RuntimeError } from '../../../base/errors.ts';
import { inSlot } from '../../../base/time/stopwatch.ts';
import type { JobKind, JobResults, Jobs, WorkerReply, WorkerRequest } from './job.ts';
import { startThread, type WorkerThread } from './worker-thread.ts';

/** The result, or which limit was exceeded, as a phrase such as `took longer than 1 s`. */
export type BoundedResult<Answer> = { readonly answer: Answer } | { readonly exceeded: string };

/**
 * Runs a job in the worker thread, after earlier jobs, and ends it after a second. Rejects with ABORTED, and
 * with INTERNAL when the work itself throws.
 */
export async function runBounded<K extends JobKind>(
  kind: K,
  job: Jobs[K],
  signal: AbortSignal,
): Promise<BoundedResult<JobResults[K]>> {
  const order = toWorkerRequest(kind, job);
  const settled = new AbortController();
  const callerAborted = whenAborted(signal, settled.signal);
  const work = async () => (signal.aborted ? undefined : await sendToWorker(order, callerAborted));
  const done = inSlot(work, (slotted) => queue.add(slotted));
  const reply = await Promise.race([done, callerAborted]).finally(() => settled.abort());
  if (reply === undefined) {
    throw new RuntimeError('ABORTED', 'the check was aborted', { cause: signal.reason });
  }
  return readReply<K>(reply);
}

const queue = new PQueue({ concurrency: 1 });
let thread: WorkerThread | undefined;
let idle: NodeJS.Timeout | undefined;

async function sendToWorker(order: WorkerRequest, callerAborted: Promise<undefined>): Promise<WorkerReply> {
  clearTimeout(idle);
  if (thread === undefined || thread.hasEnded()) thread = await startThread();
  const worker = thread;
  const limitEnd = new AbortController();
  const reply = await Promise.race([worker.send(order), waitForLimit(limitEnd.signal), callerAborted]);
  limitEnd.abort();
  if (reply === undefined) {
    endThread();
    return { status: 'exceeded', exceeded: `took longer than ${LIMIT_MS / 1000} s` };
  }
  idle = setTimeout(endThread, IDLE_MS).unref();
  return reply;
}

/** Ends the thread without waiting for it: its current work may not be interruptible. */
function endThread(): void {
  thread?.end();
  thread = undefined;
}

/** A thread costs thirty milliseconds to start, and some megabytes to keep. */
const IDLE_MS = 500;

const LIMIT_MS = 1000;
/** Without CPU time the thread has not worked; so the limit is extended up to this many times. */
const MAX_LIMITS_WAITED = 10;

async function waitForLimit(signal: AbortSignal): Promise<undefined> {
  const before = process.cpuUsage();
  for (let limits = 0; limits < MAX_LIMITS_WAITED && !signal.aborted; limits++) {
    await sleep(LIMIT_MS, undefined, { signal }).catch(() => {});
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 >= LIMIT_MS / 2) break;
  }
  // The reply may be there already, unread because this thread was busy.
  await nextTurn();
}

/** Resolves when `signal` aborts; stops listening when `settled` does. */
function whenAborted(signal: AbortSignal, settled: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: settled });
  });
}

function toWorkerRequest<K extends JobKind>(kind: K, job: Jobs[K]): WorkerRequest {
  return { kind, job } as WorkerRequest;
}

/** The thread answers an order of one kind with the answer of that kind. */
function readReply<K extends JobKind>(reply: WorkerReply): BoundedResult<JobResults[K]> {
  const { status, ...rest } = reply as WorkerReply<K>;
  if ('answer' in rest) return { answer: rest.answer };
  if ('exceeded' in rest) return { exceeded: rest.exceeded };
  throw new RuntimeError('INTERNAL', 'message' in rest ? rest.message : `the thread said ${status}`);
}

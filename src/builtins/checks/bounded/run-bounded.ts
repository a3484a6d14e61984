import { extname } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import PQueue from 'p-queue';
import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { inSlot } from '../../../base/time/stopwatch.ts';
import type { JobKind, JobResults, Jobs, WorkerReply, WorkerRequest } from './job.ts';

type BoundedResult<Answer> = { readonly answer: Answer } | { readonly exceeded: string };

/**
 * Runs a job in the worker thread after earlier jobs, for at most a second. Rejects with ABORTED, and with INTERNAL if
 * the job throws.
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

/** Does not await the end of the thread, whose work may not be interruptible. */
function endThread(): void {
  thread?.end();
  thread = undefined;
}

/** A thread takes 30 ms to start and a few megabytes to keep. */
const IDLE_MS = 500;

const LIMIT_MS = 1000;
/** Extends the limit up to this many times while the thread gets no CPU time. */
const MAX_LIMITS_WAITED = 10;

async function waitForLimit(signal: AbortSignal): Promise<undefined> {
  const before = process.cpuUsage();
  for (let limits = 0; limits < MAX_LIMITS_WAITED && !signal.aborted; limits++) {
    await sleep(LIMIT_MS, undefined, { signal }).catch(() => {});
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 >= LIMIT_MS / 2) break;
  }
  // The reply may be unread because this thread was busy.
  await nextTurn();
}

function whenAborted(signal: AbortSignal, settled: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: settled });
  });
}

function toWorkerRequest<K extends JobKind>(kind: K, job: Jobs[K]): WorkerRequest {
  return { kind, job } as WorkerRequest;
}

function readReply<K extends JobKind>(reply: WorkerReply): BoundedResult<JobResults[K]> {
  const { status, ...rest } = reply as WorkerReply<K>;
  if ('answer' in rest) return { answer: rest.answer };
  if ('exceeded' in rest) return { exceeded: rest.exceeded };
  throw new RuntimeError('INTERNAL', 'message' in rest ? rest.message : `the worker thread sent ${status}`);
}

/** Runs one job at a time. An idle thread does not keep the process alive. */
interface WorkerThread {
  /** Keeps the process alive until the reply. Rejects with INTERNAL if the thread dies. */
  send(order: WorkerRequest): Promise<WorkerReply>;
  end(): void;
  hasEnded(): boolean;
}

async function startThread(): Promise<WorkerThread> {
  const worker = new Worker(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), options);
  let next = newReply();
  let hasEnded = false;
  worker.on('message', (reply: WorkerReply) => next.resolve(reply));
  worker.on('error', (error) => next.resolve(describeThreadError(error)));
  worker.on('exit', () => {
    hasEnded = true;
    next.resolve({ status: 'failed', message: 'the worker thread has ended' });
  });
  const { status, ...rest } = await next.promise;
  if (status !== 'ready') throw toRuntimeError('message' in rest ? rest.message : status);
  worker.unref();
  return {
    send: async (order) => {
      next = newReply();
      worker.ref();
      worker.postMessage(order);
      const reply = await next.promise;
      worker.unref();
      return reply;
    },
    end: () => void worker.terminate(),
    hasEnded: () => hasEnded,
  };
}

const options: WorkerOptions = {
  name: 'signalbox',
  // Hides this process's environment and options from the thread.
  env: {},
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 512 },
};

function newReply(): PromiseWithResolvers<WorkerReply> {
  return Promise.withResolvers<WorkerReply>();
}

function describeThreadError(error: unknown): WorkerReply {
  const { message } = toRuntimeError(error);
  const isOutOfMemory =
    error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory
    ? { status: 'exceeded', exceeded: 'took too much memory' }
    : { status: 'failed', message };
}

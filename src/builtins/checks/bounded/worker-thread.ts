import { extname } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { toRuntimeError } from '../../../base/errors.ts';
import type { WorkerReply, WorkerRequest } from './job.ts';

/** A thread that does one job at a time. While idle it does not keep the process alive. */
export interface WorkerThread {
  /** Keeps the process alive until the reply is there. Rejects with INTERNAL when the thread dies. */
  send(order: WorkerRequest): Promise<WorkerReply>;
  /** Ends it, whatever it is doing. */
  end(): void;
  /** Whether the thread has ended, so that nothing can be sent to it. */
  hasEnded(): boolean;
}

/** Starts a thread. Rejects with INTERNAL. */
export async function startThread(): Promise<WorkerThread> {
  const worker = new Worker(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), options);
  let next = newReply();
  let hasEnded = false;
  worker.on('message', (reply: WorkerReply) => next.resolve(reply));
  worker.on('error', (error) => next.resolve(describeThreadError(error)));
  worker.on('exit', () => {
    hasEnded = true;
    next.resolve({ status: 'failed', message: 'the thread that does long work has ended' });
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
  // The thread gets nothing of this process's environment and options.
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

import { extname } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { toRuntimeError } from '../../errors.ts';
import type { Order, Reply } from './job.ts';

/** A thread that does one job at a time. Left alone it keeps no process alive. */
export interface Thread {
  /** Keeps the process alive until the reply is there. Rejects with INTERNAL when the thread dies. */
  ask(order: Order): Promise<Reply>;
  /** Ends it, whatever it is doing. */
  end(): void;
  /** Whether it can be asked no more. */
  isOver(): boolean;
}

/** Starts a thread. Rejects with INTERNAL. */
export async function openThread(): Promise<Thread> {
  const worker = new Worker(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), options);
  let next = newReply();
  let isOver = false;
  worker.on('message', (reply: Reply) => next.resolve(reply));
  worker.on('error', (error) => next.resolve(wordDeath(error)));
  worker.on('exit', () => {
    isOver = true;
    next.resolve({ status: 'failed', message: 'the thread that does long work has ended' });
  });
  const { status, ...told } = await next.promise;
  if (status !== 'ready') throw toRuntimeError('message' in told ? told.message : status);
  worker.unref();
  return {
    ask: async (order) => {
      next = newReply();
      worker.ref();
      worker.postMessage(order);
      const reply = await next.promise;
      worker.unref();
      return reply;
    },
    end: () => void worker.terminate(),
    isOver: () => isOver,
  };
}

const options: WorkerOptions = {
  name: 'signalbox',
  // It needs nothing of what this process was given.
  env: {},
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 512 },
};

function newReply(): PromiseWithResolvers<Reply> {
  return Promise.withResolvers<Reply>();
}

function wordDeath(error: unknown): Reply {
  const { message } = toRuntimeError(error);
  const isOutOfMemory =
    error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory
    ? { status: 'exceeded', exceeded: 'took too much memory' }
    : { status: 'failed', message };
}

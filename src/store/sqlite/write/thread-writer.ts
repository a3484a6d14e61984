import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { RuntimeError, toFault, toRuntimeError } from '../../../errors.ts';
import type { ThreadData, ThreadReply, ThreadRequest } from './thread-message.ts';
import { endedThreadError, type ThreadWriter } from './writer.ts';

/**
 * Starts a thread that writes to the file. It keeps the process alive only while it has something to write.
 * Rejects with STORE_FAILED.
 */
export async function startThreadWriter(data: ThreadData): Promise<ThreadWriter> {
  const worker = new Worker(new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url), {
    name: 'signalbox-store',
    // The thread gets nothing of this process's environment and options.
    ...{ env: {}, execArgv: [], workerData: data },
  });
  worker.unref();
  const ended = Promise.withResolvers<void>();
  let next = Promise.withResolvers<ThreadReply>();
  let why: string | undefined;
  const end = (reason: string) => {
    why ??= reason;
    next.reject(endedThreadError(data.file, why));
    ended.resolve();
  };
  // Nobody may be waiting for an answer when it ends.
  next.promise.catch(() => {});
  worker.on('message', (reply: ThreadReply) => next.resolve(reply));
  worker.on('error', (error) => end(toRuntimeError(error).message));
  worker.on('exit', (code) => end(`its exit code is ${code}`));
  const ask = async (request: ThreadRequest): Promise<ThreadReply> => {
    if (why !== undefined) throw endedThreadError(data.file, why);
    next = Promise.withResolvers<ThreadReply>();
    worker.ref();
    worker.postMessage(request);
    try {
      return await next.promise;
    } finally {
      worker.unref();
    }
  };
  await next.promise;
  return {
    hasEnded: () => why !== undefined,
    commit: async (changes) => {
      const reply = await ask(changes).catch(toRuntimeError);
      // Some of them may be on the disk, so none may be tried again.
      if (reply instanceof RuntimeError) return changes.map(() => ({ refusal: toFault(reply) }));
      if (reply.status === 'done') return reply.answers;
      const { code, message, hint, details } =
        reply.status === 'failed' ? reply.fault : endedThreadError(data.file, reply.status);
      throw new RuntimeError(code, message, { hint, ...(details && { details }) });
    },
    close: async () => {
      if (why !== undefined) return;
      worker.ref();
      worker.postMessage(null satisfies ThreadRequest);
      await ended.promise;
    },
  };
}

import { extname } from 'node:path';
import { RuntimeError, toFault, toRuntimeError } from '../../../base/errors.ts';
import { startThread } from './thread.ts';
import type { ThreadData, ThreadReply, ThreadRequest } from './thread-message.ts';
import { endedThreadError, type ThreadWriter } from './writer.ts';

/**
 * Starts a thread that writes to the file. It keeps the process alive only while it has something to write.
 * Rejects with STORE_FAILED.
 */
export async function startThreadWriter(data: ThreadData): Promise<ThreadWriter> {
  const thread = await startThread<ThreadRequest, ThreadReply>({
    address: new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url),
    ...{ name: 'signalbox-store', data, endedError: (why) => endedThreadError(data.file, why) },
  });
  return {
    hasEnded: thread.hasEnded,
    commit: async (changes) => {
      const reply = await thread.ask(changes).catch(toRuntimeError);
      // Some of them may be on the disk, so none may be tried again.
      if (reply instanceof RuntimeError) return changes.map(() => ({ refusal: toFault(reply) }));
      if (reply.status === 'done') return reply.answers;
      const { code, message, hint, details } =
        reply.status === 'failed' ? reply.fault : endedThreadError(data.file, reply.status);
      throw new RuntimeError(code, message, { hint, ...(details && { details }) });
    },
    close: thread.close,
  };
}

import { parentPort } from 'node:worker_threads';
import type { Order, Reply } from './job.ts';
import { perform } from './perform.ts';

// The thread that `thread.ts` starts: one order at a time comes in, and one reply goes out.

parentPort?.on('message', async (order: Order) => reply(await answer(order)));
reply({ status: 'ready' });

async function answer(order: Order): Promise<Reply> {
  try {
    return { status: 'done', answer: await perform(order) };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    if (!(thrown instanceof RangeError)) return { status: 'failed', message };
    return { status: 'exceeded', exceeded: isTooDeep(message) ? 'ran out of stack' : 'took too much memory' };
  }
}

/** A text that is nested more deeply than the stack reaches; a text that is too long is a RangeError, too. */
function isTooDeep(message: string): boolean {
  return message.includes('call stack');
}

function reply(message: Reply): void {
  parentPort?.postMessage(message);
}

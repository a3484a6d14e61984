import { parentPort } from 'node:worker_threads';
import type { WorkerReply, WorkerRequest } from './job.ts';
import { performJob } from './perform-job.ts';

parentPort?.on('message', async (order: WorkerRequest) => reply(await answer(order)));
reply({ status: 'ready' });

async function answer(order: WorkerRequest): Promise<WorkerReply> {
  try {
    return { status: 'done', answer: await performJob(order) };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    if (!(thrown instanceof RangeError)) return { status: 'failed', message };
    return { status: 'exceeded', exceeded: isTooDeep(message) ? 'ran out of stack' : 'took too much memory' };
  }
}

function isTooDeep(message: string): boolean {
  return message.includes('call stack');
}

function reply(message: WorkerReply): void {
  parentPort?.postMessage(message);
}

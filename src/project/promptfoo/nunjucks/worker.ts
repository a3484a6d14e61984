import { workerData } from 'node:worker_threads';
import { harden } from './harden.ts';
import type { RenderRequest, ThreadData } from './job.ts';
import { renderAll } from './render.ts';

// The thread that `thread.ts` starts: one request at a time comes in, and one reply goes out.

const { port, signal }: ThreadData = workerData;
const flag = new Int32Array(signal);
port.on('message', (request: RenderRequest) => reply(renderAll(request)));
harden();
reply({ texts: [] });

function reply(message: unknown): void {
  port.postMessage(message);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
}

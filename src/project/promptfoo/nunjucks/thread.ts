import { extname } from 'node:path';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { toRuntimeError } from '../../../errors.ts';
import type { RenderReply, RenderRequest, ThreadData } from './job.ts';

/** A thread that fills in templates of strangers, one request at a time. */
export interface RenderThread {
  /** Waits for the reply; undefined where it takes longer than the limit, or the thread has died. Then it is of no more use. */
  ask(request: RenderRequest, limitMs: number): RenderReply | undefined;
  end(): void;
}

/** A thread costs some tens of milliseconds to start, on a busy machine seconds. */
const startLimitMs = 30_000;

/** Starts a thread without anything of this process's environment. Throws INTERNAL where it does not start. */
export function startRenderThread(): RenderThread {
  const { port1, port2 } = new MessageChannel();
  const signal = new SharedArrayBuffer(4);
  const flag = new Int32Array(signal);
  const workerData: ThreadData = { signal, port: port2 };
  const worker = new Worker(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), {
    name: 'signalbox-templates',
    env: {},
    execArgv: [],
    workerData,
    transferList: [port2],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  worker.unref();
  port1.unref();
  // What it dies of is seen by the reply that does not come.
  worker.on('error', () => {});
  const take = (limitMs: number): RenderReply | undefined => {
    // The import can do nothing else meanwhile: a case needs its variables before its assertions are read.
    Atomics.wait(flag, 0, 0, limitMs);
    const received: { readonly message: RenderReply } | undefined = receiveMessageOnPort(port1);
    Atomics.store(flag, 0, 0);
    return received?.message;
  };
  if (take(startLimitMs) === undefined)
    throw toRuntimeError('the thread that fills in templates did not start');
  return {
    ask(request, limitMs) {
      port1.postMessage(request);
      return take(limitMs);
    },
    end: () => void worker.terminate(),
  };
}

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type LauncherName, openLauncher } from '../../src/process/launch/native.ts';
import { openTransport } from '../../src/process/open.ts';
import { createPool } from '../../src/process/pool.ts';
import { bind } from './harness.ts';

// A program with a call in progress, in its main thread or in a worker, until it is killed. It repeats the stderr of
// the process that it started. A line on stdin ends the worker.
interface Plan {
  readonly command: string;
  readonly launcher: LauncherName;
  readonly mode: 'oneshot' | 'server';
  readonly leftovers: 'kill' | 'keep';
  readonly thread: 'main' | 'worker';
}

const plan: Plan = isMainThread ? JSON.parse(process.argv[2] ?? '') : workerData;

if (isMainThread && plan.thread === 'worker') {
  const worker = new Worker(new URL(import.meta.url), { workerData: plan });
  worker.on('message', (line) => process.stdout.write(`${line}\n`));
  process.stdin.once('data', async () => {
    await worker.terminate();
    process.stdout.write('terminated\n');
  });
} else {
  const say = (line: string) =>
    parentPort === null ? process.stdout.write(`${line}\n`) : parentPort.postMessage(line);
  const { command, launcher, mode, leftovers } = plan;
  const context = {
    launch: await openLauncher(launcher),
    emit: (event: { readonly type: string; readonly line?: string }) => {
      if (event.type === 'stderr') say(event.line ?? '');
    },
  };
  const transport = openTransport(bind(command, { mode, leftovers }), context, createPool(2));
  await transport.exchange({ method: 'execute', body: '{}' }).catch(() => {});
  say('answered');
  setInterval(() => {}, 60_000);
}

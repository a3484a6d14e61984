import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import type { Launcher } from '../../../src/process/launch/launch.ts';
import { openLauncher } from '../../../src/process/launch/native.ts';

const warnings: string[] = [];
process.on('warning', ({ message }) => warnings.push(message));

async function run(launch: Launcher, script: string, input = 'x') {
  const { stdin, ended, ...outputs } = await launch({
    command: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    input: Buffer.from(input),
  });
  const [stdout, stderr] = [outputs.stdout.stream(), outputs.stderr.stream()];
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stdout, 'close');
  const end = await ended;
  for (const stream of [stdin, stderr]) stream?.destroy();
  return { stdout: Buffer.concat(chunks).toString(), ...end };
}

const kindOfStdin = 'stat -L -c %F /dev/stdin';
const launch = await openLauncher('auto');
const answered = await run(launch, kindOfStdin);
const failed = await run(launch, 'exit 7');
const killed = await run(launch, 'kill -9 $$');
const many = await Promise.all(Array.from({ length: 50 }, () => run(launch, 'cat')));
// A thread's own list of open files must not include those of the native launcher.
await nextTurn();
const told = { answered, failed, killed, many, warnings: [...warnings] };
const portable = await run(await openLauncher('portable'), kindOfStdin);
parentPort?.postMessage({ ...told, portable });

import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import type { Launcher } from '../../../src/process/launch/launch.ts';
import { type LauncherName, openLauncher } from '../../../src/process/launch/native.ts';

// Run under a low descriptor limit: starts processes with ever fewer free descriptors and counts the lost ones.
const name: LauncherName = process.argv[2] === 'portable' ? 'portable' : 'native';
const launch = await openLauncher(name);

async function run(start: Launcher, input: Uint8Array | null): Promise<string> {
  const { stdin, ended, ...outputs } = await start({
    command: '/bin/sh',
    args: ['-c', 'echo again'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    input,
  });
  const [stdout, stderr] = [outputs.stdout.stream(), outputs.stderr.stream()];
  const chunks: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = Promise.all([once(stdout, 'close'), once(stderr.resume(), 'close')]);
  await Promise.all([closed, ended]);
  stdin?.destroy();
  return Buffer.concat(chunks).toString();
}

function takeAll(): number[] {
  const taken: number[] = [];
  for (;;) {
    try {
      taken.push(openSync('/dev/null', 'r'));
    } catch {
      return taken;
    }
  }
}

const count = (): number => readdirSync('/proc/self/fd').length;

const large = Buffer.alloc(10_000);
await run(launch, large);
const taken = takeAll();
let refused = true;
let lost = 0;
// One stays free for counting. Five more are fewer than the six ends of three pipes.
closeSync(taken.pop() ?? -1);
for (let free = 0; free < 5; free++) {
  const before = count();
  for (const input of [large, null]) {
    refused &&= await run(launch, input).then(
      () => false,
      (error) => /EMFILE/.test(String(error)),
    );
  }
  lost += count() - before;
  closeSync(taken.pop() ?? -1);
}
for (const fd of taken) closeSync(fd);
process.stdout.write(`${JSON.stringify({ refused, lost, works: await run(launch, large) })}\n`);

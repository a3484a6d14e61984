import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLauncher } from '../../../src/process/launch/native.ts';

// Run it on one core with UV_THREADPOOL_SIZE=1. The opening of a FIFO without a writer then occupies the only thread.
const launch = await openLauncher('native');
const args: readonly string[] = [];
const start = async (command: string) => {
  const started = await launch({ command, args, cwd: '/', env: {}, input: new Uint8Array() });
  for (const output of [started.stdout, started.stderr]) output.destroy();
  return await started.ended;
};
const said: unknown[] = [await start('/bin/true')];
const fifo = join(process.env['TMPDIR'] ?? tmpdir(), `one-core-${process.pid}`);
execFileSync('mkfifo', [fifo]);
const reading = open(fifo, 'r');
said.push(await start('/bin/true'));
const first = start('/bin/false').then((end) => said.push(end));
for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 2));
said.push('the thread is free');
execFileSync('/bin/sh', ['-c', `: > "${fifo}"; rm "${fifo}"`]);
await (await reading).close();
await first;
const many = await Promise.all(Array.from({ length: 200 }, () => start('/bin/true')));
said.push(many.filter(({ exitCode }) => exitCode === 0).length);
process.stdout.write(JSON.stringify(said));
process.exit();

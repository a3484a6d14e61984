import { dirname } from 'node:path';
import { openLauncher } from '../../../src/process/launch/native.ts';
import { openTransport } from '../../../src/process/open.ts';
import { createPool } from '../../../src/process/pool.ts';
import { bind } from '../harness.ts';

// A program with a forked call in progress. It prints its processes and runs until it is killed.
const [command = ''] = process.argv.slice(2);
const context = {
  launch: await openLauncher('auto'),
  emit: (event: { readonly type: string; readonly pid?: number; readonly line?: string }) => {
    if (event.type === 'process.started') process.stdout.write(`${event.pid}\n`);
    if (event.type === 'stderr') process.stdout.write(`${event.line}\n`);
  },
};
const binding = bind(command, { isForked: true, cwd: dirname(command) });
await openTransport(binding, context, createPool(2)).exchange({ method: 'execute', body: '' });

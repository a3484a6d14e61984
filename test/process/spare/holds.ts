import { openLauncher } from '../../../src/process/launch/native.ts';
import { openTransport } from '../../../src/process/open.ts';
import { createPool } from '../../../src/process/pool.ts';
import { bind } from '../harness.ts';

// A program that keeps spare processes, prints their pids and runs until it is killed.
const [command = ''] = process.argv.slice(2);
const context = {
  launch: await openLauncher('auto'),
  emit: (event: { readonly type: string; readonly pid?: number }) => {
    if (event.type === 'process.started') process.stdout.write(`${event.pid}\n`);
  },
};
openTransport(bind(command, { spares: 3 }), context, createPool(2)).warm();
// Waiting processes do not keep it running.
setInterval(() => {}, 60_000);

import type { Binding } from '../../src/process/binding.ts';
import { type LauncherName, openLauncher } from '../../src/process/launch/native.ts';
import { openTransport } from '../../src/process/open.ts';
import { createPool } from '../../src/process/pool.ts';
import { bind } from './harness.ts';

// A program that makes its calls, prints their pids and then has nothing left to do. It must exit by itself.
export interface Plan {
  readonly launcher: LauncherName;
  readonly binding: Partial<Binding> & { readonly command: string };
  readonly calls: number;
  readonly isClosed: boolean;
}

if (process.argv[1] === import.meta.filename) {
  const { launcher, binding, calls, isClosed }: Plan = JSON.parse(process.argv[2] ?? '');
  const context = {
    launch: await openLauncher(launcher),
    emit: (event: { readonly type: string; readonly pid?: number }) => {
      if (event.type === 'process.started') process.stdout.write(`pid ${event.pid}\n`);
    },
  };
  const { command, ...rest } = binding;
  const transport = openTransport(
    bind(command, { ...rest, concurrency: Number.POSITIVE_INFINITY }),
    context,
    createPool(4),
  );
  if (binding.warm === true || binding.spares !== undefined) transport.warm();
  const message = { method: 'execute', body: '{"args":{"echo":1}}' };
  await Promise.all(Array.from({ length: calls }, () => transport.exchange(message)));
  if (isClosed) await transport.close();
  process.stdout.write('done\n');
}

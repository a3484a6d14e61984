import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'vitest';
import { isRunning, launchers, until } from './harness.ts';
import type { Plan } from './returns.ts';

const kinds = {
  oneshot: {},
  warm: { spares: 2 },
  forked: { isForked: true },
  server: { mode: 'server', args: ['server'] },
  'warm servers': { mode: 'server', args: ['server'], warm: true, instances: 3 },
  'server with limits': { mode: 'server', args: ['server'], limits: { cpuSeconds: 60, memoryMb: 512 } },
} as const satisfies Record<string, Partial<Plan['binding']>>;

const plans = launchers.flatMap((launcher) =>
  Object.entries(kinds).flatMap(([kind, binding]) =>
    [
      { calls: 0, isClosed: false },
      { calls: 1, isClosed: false },
      { calls: 7, isClosed: false },
      { calls: 7, isClosed: true },
    ].map((rest) => ({ kind, launcher, binding: { command: 'greedy', ...binding }, ...rest })),
  ),
);

test.concurrent.for(plans)(
  'a host with an idle $kind exits after $calls calls, closed: $isClosed, $launcher launcher',
  // The `expect` of this test: the global one belongs to whichever test runs beside it.
  async ({ kind: _, ...plan }, { expect, onTestFinished }) => {
    const host = spawn(process.execPath, [join(import.meta.dirname, 'returns.ts'), JSON.stringify(plan)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 40_000,
      killSignal: 'SIGKILL',
    });
    onTestFinished(() => void host.kill('SIGKILL'));
    const [said, [code, signal]] = await Promise.all([text(host.stdout), once(host, 'exit')]);
    expect([code, signal]).toEqual([0, null]);
    expect(said).toContain('done\n');
    const pids = [...said.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
    await until(() => !pids.some(isRunning), 'end of all processes');
  },
);

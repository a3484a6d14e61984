import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hasPostgres, startServer, unlessMissing } from '../test/store/postgres/server.ts';
import { openSuite } from '../test/workers/suite-project.ts';

/**
 * Prints the cases per second of a suite with built-in checks, for one process and for one to three workers, with the
 * memory of each.
 */
const CASES = Number(process.env['SUITE_CASES'] ?? 200_000);
const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

if (!hasPostgres || !existsSync(program)) console.log(unlessMissing || 'skipped: run `npm run build` first');
else await main();

async function main(): Promise<void> {
  const server = await startServer({
    parent: '/tmp',
    settings: { fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB', autovacuum: 'on' },
  });
  try {
    const project = openSuite({ cases: CASES });
    const args = ['eval', 'run', project.suite, '--config', project.config, '--quiet'];
    const rate = (ms: number) => `${Math.round((CASES / ms) * 1_000)} cases a second`;
    const alone = await timed(() => end(start([...args, '--no-store'], '')));
    console.log(`one process, kept nowhere: ${rate(alone)}`);
    for (const count of [1, 2, 3]) {
      const url = await server.newUrl();
      const workers = Array.from({ length: count }, () =>
        start(['worker', '--config', project.config, '--concurrency', '1'], url),
      );
      await Promise.all(workers.map(ready));
      const ms = await timed(() => end(start([...args, '--workers'], url)));
      const memory = workers.map(({ pid }) => `${peakMb(pid)} MB`).join(', ');
      console.log(`${count} ${count === 1 ? 'worker' : 'workers'}: ${rate(ms)}; memory ${memory}`);
      for (const worker of workers) worker.kill('SIGTERM');
      await Promise.all(workers.map((worker) => once(worker, 'exit')));
    }
  } finally {
    await server.remove();
  }
}

function start(args: readonly string[], url: string): ChildProcess {
  const env = { ...process.env, DATABASE_URL: url };
  return spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
}

async function ready(worker: ChildProcess): Promise<void> {
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`a worker ended with ${code}`);
  });
  if (worker.stdout !== null) await Promise.race([once(worker.stdout, 'data'), ended]);
  ended.catch(() => {});
}

async function end(child: ChildProcess): Promise<void> {
  child.stdout?.resume();
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the suite ended with ${code}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function peakMb(pid = 0): number {
  return Math.round(
    Number(/^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
  );
}

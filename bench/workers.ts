import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtProgram } from '../test/built.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../test/store/postgres/server.ts';
import { buildNative, withoutCompiler } from './native/build.ts';
import { makeFolder, open } from './workspace.ts';

/**
 * Prints the steps per second of one, two and three workers with one Postgres on this machine that syncs to disk, and
 * the startup time of a worker. Workers, tools and the server share the cores.
 */
const RUNS = 150;
const STEPS = 20;
const AT_ONCE = 16;

const native = buildNative();
if (!hasPostgres || native === undefined) console.log(native === undefined ? withoutCompiler : unlessMissing);
else await main(native['echo-server']);

async function main(tool: string): Promise<void> {
  const settings = {
    fsync: 'on',
    full_page_writes: 'on',
    shared_buffers: '128MB',
    autovacuum: 'on',
    max_connections: 100,
  };
  const server = await startServer({ parent: '/tmp', settings });
  try {
    for (const count of [1, 2, 3]) await measure(server, tool, count);
  } finally {
    await server.remove();
  }
}

async function measure(server: TestServer, tool: string, count: number): Promise<void> {
  const url = await server.newUrl();
  const database = new URL(url).pathname.slice(1);
  const { path, remove } = writeProject(tool);
  const env = { ...process.env, BENCH_DATABASE_URL: url };
  const desk = await open(path, { env });
  const started: Worker[] = [];
  try {
    for (let index = 0; index < RUNS; index += 1) await desk.runs.queue(`${path}/bench.pipeline.yaml`);
    const from = performance.now();
    started.push(...(await Promise.all(Array.from({ length: count }, () => startWorker(path, env)))));
    const readyAt = performance.now();
    while ((await countOpen(server, database)) > 0) await sleep(50);
    const ms = performance.now() - readyAt;
    const starts = started.map(({ startMs }) => Math.round(startMs)).join(', ');
    const figure = Math.round((RUNS * STEPS * 1_000) / ms);
    console.log(
      `${count} workers: ${figure} steps a second (${RUNS} runs of ${STEPS} steps in ${Math.round(ms)} ms, from the moment that all were ready, ${Math.round(readyAt - from)} ms after their start); each ready after ${starts} ms`,
    );
  } finally {
    for (const { child } of started) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await desk.close();
    remove();
  }
}

async function countOpen(server: TestServer, database: string): Promise<number> {
  const [row] = await server.ask(
    "SELECT count(*) AS n FROM signalbox.runs WHERE status IN ('queued', 'running')",
    database,
  );
  return Number(row?.['n']);
}

function writeProject(tool: string): ReturnType<typeof makeFolder> {
  const head = { apiVersion: 'signalbox/v1', metadata: { name: 'bench' } };
  const store = { type: 'postgres', url_env: 'BENCH_DATABASE_URL' };
  const tools = { bench: { description: 'answers', exec: { command: tool, runtime: 'server' } } };
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    ...{ id: `step${index}`, tool: 'bench', args: { city: 'Oslo' } },
  }));
  const spec = { concurrency: AT_ONCE, state_store: store, tools };
  return makeFolder({
    'runtime.yaml': JSON.stringify({ ...head, kind: 'RuntimeConfig', spec }),
    'bench.pipeline.yaml': JSON.stringify({
      ...head,
      kind: 'Pipeline',
      spec: { runtime: './runtime.yaml', steps },
    }),
  });
}

interface Worker {
  readonly child: ChildProcess;
  readonly startMs: number;
}

async function startWorker(folder: string, env: NodeJS.ProcessEnv): Promise<Worker> {
  const from = performance.now();
  const args = [
    builtProgram,
    'worker',
    '--config',
    `${folder}/runtime.yaml`,
    '--json',
    '--concurrency',
    `${AT_ONCE}`,
  ];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(createInterface({ input: child.stdout }), 'line');
  return { child, startMs: performance.now() - from };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '../src/index.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../test/store/postgres/server.ts';
import { buildNative, withoutCompiler } from './native/build.ts';
import { makeFolder, open } from './workspace.ts';

/**
 * Prints the cost of a pipeline step with its state in memory, SQLite and Postgres on this machine, each with its disk
 * syncs. Prints the median of alternating rounds, and the number of statements per step.
 */
const ROUNDS = 5;
const STEPS = 20;
const RUNS_OF_A_ROUND = 48;

const native = buildNative();
if (!hasPostgres || native === undefined) console.log(native === undefined ? withoutCompiler : unlessMissing);
else await main(native['echo-server']);

async function main(tool: string): Promise<void> {
  const server = await startServer({
    parent: '/tmp',
    settings: {
      ...{ fsync: 'on', full_page_writes: 'on', shared_buffers: '128MB', autovacuum: 'on' },
      shared_preload_libraries: 'pg_stat_statements',
    },
  });
  try {
    const url = await server.newUrl();
    await server.ask('CREATE EXTENSION pg_stat_statements');
    const stores: Record<string, object> = {
      memory: { type: 'memory' },
      sqlite: { type: 'sqlite' },
      postgres: { type: 'postgres', url_env: 'BENCH_DATABASE_URL' },
    };
    for (const atOnce of [1, 16]) {
      const opened = await Promise.all(
        Object.entries(stores).map(async ([name, store]) => ({
          name,
          ...(await openPipeline({ tool, store, url })),
          took: [] as number[],
          cpu: [] as number[],
        })),
      );
      // The first round is a warm-up.
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const one of opened) {
          const { ms, cpuMs } = await measure(one, atOnce);
          if (round === 0) continue;
          one.took.push(ms);
          one.cpu.push(cpuMs);
        }
      }
      for (const { name, took, cpu } of opened)
        console.log(
          `${name}, ${atOnce} at once: ${show(took, 'ms')} for a step, of which ${show(cpu, 'ms')} are processor time of this process`,
        );
      const postgres = opened.find(({ name }) => name === 'postgres');
      if (postgres !== undefined) console.log(await countStatements(server, postgres, atOnce));
      for (const { runtime } of opened) await runtime.close();
    }
  } finally {
    await server.remove();
  }
}

interface Opened {
  readonly runtime: Runtime;
  readonly file: string;
}

async function openPipeline({
  tool,
  store,
  url,
}: {
  tool: string;
  store: object;
  url: string;
}): Promise<Opened> {
  const head = { apiVersion: 'signalbox/v1', metadata: { name: 'bench' } };
  const exec = { command: tool, runtime: 'server' };
  const tools = { bench: { description: 'answers', exec } };
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    ...{ id: `step${index}`, tool: 'bench', args: { city: 'Oslo' } },
  }));
  const { path } = makeFolder({
    'runtime.yaml': JSON.stringify({
      ...{ ...head, kind: 'RuntimeConfig', spec: { concurrency: 16, state_store: store, tools } },
    }),
    'bench.pipeline.yaml': JSON.stringify({
      ...head,
      kind: 'Pipeline',
      spec: { runtime: './runtime.yaml', steps },
    }),
  });
  const env = { ...process.env, BENCH_DATABASE_URL: url };
  return { runtime: await open(path, { env }), file: `${path}/bench.pipeline.yaml` };
}

async function runAll({ runtime, file }: Opened, atOnce: number): Promise<void> {
  for (let done = 0; done < RUNS_OF_A_ROUND; done += atOnce)
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        const { status } = await runtime.run(file);
        if (status !== 'completed') throw new Error(`the run was ${status}`);
      }),
    );
}

async function measure(one: Opened, atOnce: number): Promise<{ ms: number; cpuMs: number }> {
  const count = RUNS_OF_A_ROUND * STEPS;
  const [from, before] = [performance.now(), process.cpuUsage()];
  await runAll(one, atOnce);
  const { user, system } = process.cpuUsage(before);
  return { ms: (performance.now() - from) / count, cpuMs: (user + system) / 1_000 / count };
}

/** Includes the statements that begin and end a run, with its claim. */
async function countStatements(server: TestServer, one: Opened, atOnce: number): Promise<string> {
  await server.ask('SELECT pg_stat_statements_reset()');
  await runAll(one, atOnce);
  await sleep(100);
  const steps = RUNS_OF_A_ROUND * STEPS;
  const [row] = await server.ask(
    `SELECT sum(calls) AS calls, sum(total_exec_time) AS ms, sum(wal_bytes) AS wal FROM pg_stat_statements AS s
       JOIN pg_database AS d ON d.oid = s.dbid WHERE d.datname LIKE 't%' AND toplevel`,
  );
  const of = (name: string) => Number(row?.[name] ?? 0) / steps;
  return `postgres, ${atOnce} at once: ${of('calls').toFixed(2)} statements, ${of('ms').toFixed(3)} ms of the server and ${of('wal').toFixed(0)} bytes of its log for a step, with the begin and the end of ${RUNS_OF_A_ROUND} runs of ${STEPS} steps`;
}

function show(values: readonly number[], unit: string): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => (sorted[index] ?? 0).toFixed(3);
  return `${at(Math.floor(sorted.length / 2))} ${unit} (${at(0)}–${at(sorted.length - 1)})`;
}

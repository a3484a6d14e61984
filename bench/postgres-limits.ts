import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPostgresStore } from '../src/store/postgres-store.ts';
import {
  addressOf,
  hasPostgres,
  startServer,
  type TestServer,
  unlessMissing,
} from '../test/store/postgres/server.ts';
import { makeFolder } from './workspace.ts';

/**
 * Prints the cost of a store's statements to Postgres on this machine with many concurrent clients, and the size of
 * rows and connections. These are the figures in docs/operate/scale.md. Needs `pgbench`, which is part of Debian's
 * postgresql package.
 */
const SECONDS = 5;
const CLIENTS = [1, 4, 16];
const RUNS = 1_000;

const run = promisify(execFile);
const pgbench = ['15', '16', '17', '18']
  .map((version) => `/usr/lib/postgresql/${version}/bin/pgbench`)
  .find(existsSync);
/** Scripts for pgbench. */
const statements: Record<string, string> = {
  'end of a step and begin of the next': `\\set run random(1, ${RUNS})
\\set step random(1, 1000000000)
SELECT signalbox.end_step('r' || :run, 1, pg_backend_pid(), 't', 's' || :step, 1, '{"status":"ok","result":{"answer":"Oslo"}}', 1, NULL, NULL, NULL, NULL, NULL), signalbox.begin_step('r' || :run, 1, pg_backend_pid(), 't', 's' || :step || 'b', 1, false);
`,
  'claim and release of a run': `\\set run random(1, 1000000000)
SELECT signalbox.claim('c' || :run, 'h');
SELECT signalbox.release('c' || :run, (SELECT epoch FROM signalbox.claims WHERE run_id = 'c' || :run));
`,
  'a hundred results of a suite': `\\set first random(1, 1000000000)
SELECT signalbox.put_results(array_fill('s1'::text, ARRAY[100]), ARRAY(SELECT generate_series(:first, :first + 99)), array_fill(1::bigint, ARRAY[100]),
  array_fill(1::bigint, ARRAY[100]), array_fill('case-1234567'::text, ARRAY[100]), array_fill('${'d'.repeat(64)}'::text, ARRAY[100]), array_fill('${'t'.repeat(600)}'::text, ARRAY[100]));
`,
  'sign of life of a process': `UPDATE signalbox.holders SET seen_at = clock_timestamp() WHERE id = 'h' || :client_id;
`,
  'change without NOTIFY': `INSERT INTO told (what) VALUES ('decided');
`,
  'change with NOTIFY': `INSERT INTO told (what) SELECT 'decided' FROM pg_notify('signalbox', 'decided');
`,
};

/** Claimed runs, processes, and an unrelated table. */
const seed = `
INSERT INTO signalbox.runs (id, kind, name, file, source, config, input, created_at, status, updated_at, token)
  SELECT 'r' || n, 'pipeline', 'bench', '/p', 'text', '/c', '{}', 1, 'running', 1, 't' FROM generate_series(1, ${RUNS}) AS n;
INSERT INTO signalbox.claims (run_id, epoch, holder) SELECT 'r' || n, 1, 'h' FROM generate_series(1, ${RUNS}) AS n;
INSERT INTO signalbox.holders (id, pid, backend_start, machine, seen_at)
  SELECT 'h' || n, n, now(), 'm', now() FROM generate_series(0, 63) AS n;
INSERT INTO signalbox.result_runs (id, kind, name, file, fingerprint, created_at, status, header, token)
  VALUES ('s1', 'suite', 'bench', '/s', 'f', 1, 'running', '{}', 't');
CREATE TABLE told (seq bigserial PRIMARY KEY, what text);
`;

const WAITING = 500_000;
const waiting = `
INSERT INTO signalbox.runs (id, kind, name, file, source, config, input, created_at, status, updated_at, token, build, dispatched)
  SELECT 'w' || n, 'pipeline', 'bench', '/p', 'text', '/c', '{}', 1, 'pending', 1, 't', 'b', true FROM generate_series(1, ${WAITING}) AS n;
INSERT INTO signalbox.pendings (id, run_id, step, call_id, tool, args, origin, reason, message, members, created_at, expires_at)
  SELECT 'p' || n, 'w' || n, 's', 'c', 't', '{}', 'approval', '', '', '{}', 1, 9999999999999 FROM generate_series(1, ${WAITING}) AS n;
INSERT INTO signalbox.workers (id, machine, pid, version, concurrency, busy, builds, draining, seen_at)
  VALUES ('w', 'm', 1, '1', 1, 0, '{b}', false, now() + interval '1 hour');
`;

if (!hasPostgres || pgbench === undefined) console.log(unlessMissing || ' (skipped: there is no pgbench)');
else await main(pgbench);

async function main(program: string): Promise<void> {
  const server = await startServer({
    parent: '/tmp',
    settings: {
      fsync: 'on',
      full_page_writes: 'on',
      shared_buffers: '256MB',
      autovacuum: 'on',
      max_connections: 200,
    },
  });
  try {
    const url = await server.newUrl();
    await (await openPostgresStore(addressOf(url))).close();
    await server.ask(seed, 't1');
    const { path } = makeFolder({});
    for (const [name, script] of Object.entries(statements)) {
      const file = join(path, 'script.sql');
      writeFileSync(file, script);
      const rates: string[] = [];
      for (const clients of CLIENTS) rates.push(await measure(program, { server, file, clients }));
      console.log(`${name}: ${rates.join('; ')}`);
    }
    await printWaiting(server, url);
    await printSizes(server);
    await printConnections(server, url);
  } finally {
    await server.remove();
  }
}

interface Measured {
  readonly server: TestServer;
  readonly file: string;
  readonly clients: number;
}

async function measure(program: string, { server, file, clients }: Measured): Promise<string> {
  const where = ['-h', server.folder, '-p', `${server.port}`, '-U', 'tester'];
  const how = ['-n', '-M', 'prepared', '-c', `${clients}`, '-j', '1', '-T', `${SECONDS}`, '-f', file];
  const before = serverSeconds(server);
  const { stdout } = await run(program, [...where, ...how, 't1']);
  const used = serverSeconds(server) - before;
  const rate = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  const each = (used * 1_000) / (rate * SECONDS);
  return `${clients} at once ${Math.round(rate)} /s, ${each.toFixed(3)} ms of processors`;
}

/** CPU time of all processes of the server so far, including those that have exited. */
function serverSeconds(server: TestServer): number {
  const parent = Number.parseInt(readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8'), 10);
  const own = statOf(parent).slice(11, 15);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat[1] === parent)
    .flatMap((stat) => stat.slice(11, 13));
  return [...own, ...children].reduce((sum, ticks) => sum + ticks, 0) / 100;
}

/** The fields from the third on. Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function statOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
}

/** Measures the workers' polling queries while very many runs wait for people. */
async function printWaiting(server: TestServer, url: string): Promise<void> {
  await server.ask(waiting, 't1');
  await server.ask('VACUUM ANALYZE signalbox.runs, signalbox.pendings, signalbox.claims', 't1');
  const store = await openPostgresStore(addressOf(url));
  const took: number[] = [];
  for (let count = 0; count < 5; count += 1) {
    const from = performance.now();
    await store.work?.sweep();
    took.push(performance.now() - from);
    await new Promise((resolve) => setTimeout(resolve, 900));
  }
  await store.close();
  console.log(
    `sweep while ${WAITING} runs wait for people: ${took.map((ms) => ms.toFixed(1)).join(', ')} ms`,
  );
}

async function printSizes(server: TestServer): Promise<void> {
  const rows = await server.ask(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes, pg_relation_size(c.oid) AS own,
        (xpath('/row/n/text()', query_to_xml('SELECT count(*) AS n FROM signalbox.' || quote_ident(c.relname), false, true, '')))[1]::text::bigint AS n
       FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = c.relnamespace
       WHERE s.nspname = 'signalbox' AND c.relkind = 'r' AND c.relname IN ('steps', 'moments', 'results', 'runs', 'pendings') ORDER BY 1`,
    't1',
  );
  for (const { name, bytes, own, n } of rows) {
    const of = (size: unknown) => Math.round(Number(size) / Number(n));
    console.log(`${name}: ${n} rows, ${of(bytes)} bytes of each with its indexes, ${of(own)} without`);
  }
}

async function printConnections(server: TestServer, url: string): Promise<void> {
  const stores = [];
  for (let count = 0; count < 40; count += 1) stores.push(await openPostgresStore(addressOf(url)));
  const pids = await server.ask("SELECT pid FROM pg_stat_activity WHERE application_name = 'signalbox'");
  const bytes = pids.map(({ pid }) => {
    const text = readFileSync(`/proc/${Number(pid)}/smaps_rollup`, 'utf8');
    return Number(/^Private_Dirty:\s+(\d+) kB/mu.exec(text)?.[1] ?? 0);
  });
  const sum = bytes.reduce((total, kb) => total + kb, 0);
  console.log(
    `connection: ${(sum / bytes.length / 1024).toFixed(1)} MB of the server's memory that no other has`,
  );
  for (const store of stores) await store.close();
}

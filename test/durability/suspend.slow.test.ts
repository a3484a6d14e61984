import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { builtProgram, compileCache } from '../built.ts';
import { hasPostgres, startServer, unlessMissing } from '../store/postgres/server.ts';

const KILLS = Number(process.env['SUSPEND_KILLS'] ?? 40);
const RUNS = 8;

/** A server that acts once for each key, then dies without an answer if the file says so. */
const act = `#!/usr/bin/env python3
import json, os, random, sys
for line in sys.stdin:
    request = json.loads(line)
    key = request["params"]["idempotency_key"].replace("/", "_").replace("[", "_").replace("]", "_")
    with open(os.environ["WORK"] + "/calls", "a") as calls:
        calls.write(key + "\\n")
    try:
        os.close(os.open(os.environ["WORK"] + "/effects/" + key, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        pass
    if os.path.exists(os.environ["WORK"] + "/down") and random.random() < 0.3:
        os._exit(7)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": 1}), flush=True)
`;

const pipeline = `apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: outage}
spec:
  steps:
    - {id: a, tool: act}
    - {id: b, for_each: [1, 2, 3], tool: act, args: {n: "\${item}"}}
    - {id: pause, wait: 1500ms}
    - id: c
      parallel:
        - {id: d, tool: act}
        - {id: e, tool: act}
        - {id: part, pipeline: ./part.pipeline.yaml}
  finally: [{id: f, tool: act}]
`;
const part = `apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: part}
spec:
  steps:
    - {id: g, tool: act}
    - {id: pause, wait: 700ms}
    - {id: h, tool: act}
  finally: [{id: i, tool: act}]
`;
/** a, three of b, d, e, f, and those of the part. */
const EFFECTS = 10;

interface Project {
  readonly folder: string;
  readonly config: string;
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

function openProject(store: string, more: NodeJS.ProcessEnv): Project {
  const folder = mkdtempSync(join(tmpdir(), 'outage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'effects'));
  writeFileSync(join(folder, 'act.py'), act);
  chmodSync(join(folder, 'act.py'), 0o755);
  const config = join(folder, 'runtime.yaml');
  const exec = `{runtime: server, command: ./act.py, env: ["WORK=${folder}"]}`;
  writeFileSync(
    config,
    `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n  state_store: ${store}\n  tools: {act: {idempotent: true, exec: ${exec}}}\n`,
  );
  const file = join(folder, 'outage.pipeline.yaml');
  writeFileSync(file, pipeline);
  writeFileSync(join(folder, 'part.pipeline.yaml'), part);
  const { PATH, TMPDIR, HOME } = process.env;
  return { folder, config, file, env: { PATH, TMPDIR, HOME, NODE_COMPILE_CACHE: compileCache, ...more } };
}

function begin({ config, env }: Project, args: readonly string[]): ChildProcess {
  const all = [builtProgram, ...args, '--config', config, '--log-level', 'silent'];
  const child = spawn(process.execPath, all, { stdio: 'ignore', env });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Repeatedly kills one of two workers while the server dies at random, then lets everything finish. */
async function stormOver(project: Project, endPauses: () => Promise<void>): Promise<void> {
  const down = join(project.folder, 'down');
  writeFileSync(down, '');
  const ids = Array.from({ length: RUNS }, (_, index) => `run-${index}`);
  for (const id of ids) {
    const child = begin(project, ['run', project.file, '--id', id, '--set-down']);
    await sleep(Math.random() * 800);
    if (Math.random() < 0.5) child.kill('SIGKILL');
    else await once(child, 'exit');
  }
  for (let kills = 0; kills < KILLS; kills += 1) {
    const working = [1, 2].map(() => begin(project, ['work', '--once', '--concurrency', '3']));
    await endPauses();
    await sleep(200 + Math.random() * 1_500);
    const [first, second] = working;
    first?.kill('SIGKILL');
    if (second?.exitCode === null && second.signalCode === null) await once(second, 'exit');
  }
  rmSync(down);
  const desk = await openRuntime(project.config, { log: false, env: project.env });
  onTestFinished(() => desk.close());
  for (const id of ids) await desk.run(project.file, {}, { id });
  for (const { run_id } of await desk.runs.resumable()) await desk.runs.resume(run_id);
  const runs = await desk.runs.list();
  expect(runs.map(({ run_id, status }) => `${run_id} ${status}`).toSorted()).toEqual(
    ids.map((id) => `${id} completed`),
  );
  // Each key has one file, so this only checks that exactly the expected keys exist.
  const effects = readdirSync(join(project.folder, 'effects'));
  expect(effects).toHaveLength(RUNS * EFFECTS);
  const calls = readFileSync(join(project.folder, 'calls'), 'utf8').trim().split('\n');
  const tally = { kills: KILLS, runs: RUNS, effects: effects.length, calls: calls.length };
  process.stdout.write(`${JSON.stringify(tally)}\n`);
}

const title = `${KILLS} times SIGKILL among processes that work through an outage: each effect is there, and none has a second key [DS-WORK-04]`;

test(`over SQLite: ${title}`, { timeout: 900_000 }, async () => {
  const project = openProject('{type: sqlite}', {});
  const { DatabaseSync } = await import('node:sqlite');
  await stormOver(project, async () => {
    const database = new DatabaseSync(join(project.folder, '.signalbox', 'state.db'));
    database.exec("PRAGMA busy_timeout = 5000; UPDATE suspensions SET due_at = 1 WHERE why = 'fault'");
    database.close();
  });
});

test.runIf(hasPostgres)(`over Postgres: ${title}${unlessMissing}`, { timeout: 900_000 }, async () => {
  const server = await startServer();
  onTestFinished(() => server.remove());
  const url = await server.newUrl();
  const project = openProject('{type: postgres, url_env: DATABASE_URL}', { DATABASE_URL: url });
  const name = new URL(url).pathname.slice(1);
  await stormOver(project, async () => {
    await server.ask("UPDATE signalbox.suspensions SET due_at = 1 WHERE why = 'fault'", name);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { RunDocument } from '../../src/contract/run.ts';
import { openRuntime } from '../../src/index.ts';
import { hasPostgres, startServer, unlessMissing } from '../store/postgres/server.ts';

const KILLS = Number(process.env['RETRY_KILLS'] ?? 60);

/** Acts once for each key, then loses its answer while `down` exists. */
const act = `#!/bin/sh
request=$(cat)
key=$(printf '%s' "$request" | sed -n 's/.*"idempotency_key":"\\([^"]*\\)".*/\\1/p' | tr '/#[]' '____')
[ -n "$key" ] || exit 1
printf '%s\\n' "$key" >>"$WORK/calls"
(set -C; : >"$WORK/effects/$key") 2>/dev/null
case "$request" in *'"fragile":true'*) [ -e "$WORK/down" ] && { echo '{"error": "lost"}'; exit 0; } ;; esac
echo '{"result": 1}'
`;

const pipeline = `apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: retried}
spec:
  steps:
    - {id: a, tool: act}
    - {id: b, for_each: [1, 2, 3], tool: act, args: {n: "\${item}", fragile: "\${item == 2}"}}
    - id: c
      parallel:
        - {id: d, tool: act}
        - {id: e, tool: act}
    - {id: f, tool: act}
`;
/** a, three of b, d, e and f. */
const EFFECTS = 7;

async function killRetries(store: string, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'retry-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'effects'));
  writeFileSync(join(folder, 'act.sh'), act);
  chmodSync(join(folder, 'act.sh'), 0o755);
  const config = join(folder, 'runtime.yaml');
  const exec = `{command: ./act.sh, env: ["WORK=${folder}"]}`;
  writeFileSync(
    config,
    `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n  state_store: ${store}\n  tools: {act: {idempotent: true, exec: ${exec}}}\n`,
  );
  const file = join(folder, 'retried.pipeline.yaml');
  writeFileSync(file, pipeline);
  for (let kills = 0; kills < KILLS; ) {
    writeFileSync(join(folder, 'down'), '');
    const desk = await openRuntime(config, { log: false, env });
    const { run_id, status } = await desk.run(file);
    await desk.close();
    expect(status).toBe('failed');
    let end: RunDocument | undefined;
    for (let round = 0; end?.status !== 'completed'; round += 1) {
      if (round === 4) rmSync(join(folder, 'down'));
      const isKilled = kills < KILLS;
      const worked = await work(
        { config, run: run_id, env },
        isKilled ? Math.floor(Math.random() * 12) : undefined,
      );
      if (worked.wasKilled) kills += 1;
      end = worked.document;
    }
    const effects = readdirSync(join(folder, 'effects')).filter((name) => name.startsWith(run_id));
    expect(effects.toSorted()).toEqual(
      ['a_call', 'b_0__call', 'b_1__call', 'b_2__call', 'd_call', 'e_call', 'f_call'].map(
        (key) => `${run_id}_${key}`,
      ),
    );
    expect(effects).toHaveLength(EFFECTS);
    const calls = readFileSync(join(folder, 'calls'), 'utf8')
      .split('\n')
      .filter((key) => key.startsWith(run_id));
    // Steps that succeeded before the failure never run again.
    expect(calls.filter((key) => key.endsWith('_a_call'))).toHaveLength(1);
  }
}

interface Worked {
  readonly document: RunDocument | undefined;
  readonly wasKilled: boolean;
}

async function work(
  { config, run, env }: { readonly config: string; readonly run: string; readonly env: NodeJS.ProcessEnv },
  killAfter: number | undefined,
): Promise<Worked> {
  const script = new URL('./retry-worker.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, config, run], { stdio: ['ignore', 'pipe', 'inherit'], env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let document: RunDocument | undefined;
  let happened = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'event') happened += 1;
    if (happened === killAfter) setTimeout(() => child.kill('SIGKILL'), Math.random() * 15);
    if (line.startsWith('{')) document = JSON.parse(line) as RunDocument;
  }
  const [, signal] = await closed;
  return { document, wasKilled: signal === 'SIGKILL' };
}

test('a retry that is killed continues, and repeats no effect [DS-RETRY-04]', {
  timeout: 600_000,
}, async () => {
  await killRetries('{type: sqlite}', process.env);
});

test.runIf(hasPostgres)(
  `the same over a store in Postgres [DS-RETRY-04]${unlessMissing}`,
  { timeout: 600_000 },
  async () => {
    const server = await startServer();
    onTestFinished(() => server.remove());
    await killRetries('{type: postgres, url_env: RETRY_URL}', {
      ...process.env,
      RETRY_URL: await server.newUrl(),
    });
  },
);

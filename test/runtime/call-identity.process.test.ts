import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openRuntime, type Runtime, type ToolDocument } from '../../src/index.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { config, folderOf } from '../workspace.ts';

/** Appends a line to ran.txt for each execution, and returns its arguments with a number. */
const counts = `#!/bin/sh
echo run >> ran.txt
cat > last.json
printf '{"result": {"ran": %s, "input": %s}}' "$(wc -l < ran.txt)" "$(cat last.json)"
`;

/** Like it, but waits for the file \`go\` first. */
const waits = `#!/bin/sh
echo $$ >> pids.txt
echo run >> ran.txt
while [ ! -e go ]; do sleep 0.02; done
printf '{"result": {"ran": %s}}' "$(wc -l < ran.txt)"
`;

const tools = `
tools:
  pay: {description: pays, approval: {by: [mara]}, exec: {command: ./counts.sh}}
  fast: {description: pays soon, approval: {by: [mara], expires: 1s}, exec: {command: ./counts.sh}}
  read: {description: reads, exec: {command: ./counts.sh}}
  slow: {description: takes its time, exec: {command: ./waits.sh, timeout_ms: 60000}}
  once: {description: acts once, idempotent: false, exec: {command: ./waits.sh, timeout_ms: 60000}}
`;

interface Desk {
  readonly file: string;
  readonly folder: string;
  open(): Promise<Runtime>;
  /** How often a tool has run. */
  ran(): number;
  /** Lets the waiting tools end. */
  letGo(): void;
}

type OpenStore = () => Promise<{ readonly spec: string; readonly env: Readonly<Record<string, string>> }>;

describe('identities of calls in SQLite', () => {
  identityTests(async () => ({ spec: 'state_store: {type: sqlite, path: state.db}', env: {} }));
});

describe.runIf(hasPostgres)(`identities of calls in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());
  identityTests(async () => ({
    spec: 'state_store: {type: postgres, url_env: CALLS_URL}',
    env: { CALLS_URL: await server.newUrl('socket') },
  }));
});

function identityTests(openStore: OpenStore): void {
  const openDesk = async (): Promise<Desk & { readonly env: NodeJS.ProcessEnv }> => {
    const { spec, env: own } = await openStore();
    const env = { ...process.env, ...own };
    const folder = folderOf({
      'runtime.yaml': config(`${spec}${tools}`),
      'counts.sh': counts,
      'waits.sh': waits,
    });
    const file = join(folder, 'runtime.yaml');
    const open = async () => {
      const runtime = await openRuntime(file, { log: false, env });
      onTestFinished(() => runtime.close());
      return runtime;
    };
    const ran = () => {
      const path = join(folder, 'ran.txt');
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
    };
    return { file, folder, env, open, ran, letGo: () => writeFileSync(join(folder, 'go'), '') };
  };
  const mara = { by: 'mara', reason: 'checked' };
  const identity = { principal: 'key_1', id: 'call_1' };
  const pendingOf = (document: ToolDocument | { readonly status: 'running' }) => {
    if (document.status !== 'pending') throw new Error(JSON.stringify(document));
    return document.pending;
  };

  test('the same id in two processes is one call: one run, one pending, one execution, one outcome', async () => {
    const desk = await openDesk();
    const [one, two] = [await desk.open(), await desk.open()];
    const args = '{"cents": 12345678901234567890, "to": "joe"}';
    const made = await Promise.all(
      [one, two, one, two].map((runtime) => runtime.tools.call('pay', args, { identity })),
    );
    const [{ id, run_id: run } = { id: '', run_id: '' }] = made.map(pendingOf);
    expect(made.map(pendingOf)).toEqual(Array(4).fill({ ...pendingOf(made[0] as ToolDocument) }));
    expect(run).toMatch(/^run_[0-9a-f]{32}$/);
    expect(await one.pending.list()).toHaveLength(1);
    expect(await one.runs.principal(run)).toBe('key_1');
    await two.pending.approve(id, mara);
    const reordered = '{"to":"joe",  "cents":12345678901234567890}';
    const ended = await Promise.all([
      ...Array.from({ length: 5 }, () => one.tools.call('pay', args, { identity })),
      ...Array.from({ length: 5 }, () => two.tools.call('pay', reordered, { identity })),
      one.pending.outcome(id),
      two.tools.outcome(run),
    ]);
    const input = { args: JSON.parse(args), approval: { id, decision: 'approved', ...mara } };
    for (const document of ended)
      expect(JSON.parse(JSON.stringify(document))).toEqual({ status: 'ok', result: { ran: 1, input } });
    expect(readFileSync(join(desk.folder, 'last.json'), 'utf8')).toContain('12345678901234567890');
    expect(desk.ran()).toBe(1);
    const later = await desk.open();
    expect(await later.tools.call('pay', args, { identity })).toEqual(ended[0]);
    expect(await later.runs.list()).toHaveLength(1);
  });

  test('a started call is stored before its process, cancelled from elsewhere, and read after a restart', async () => {
    const desk = await openDesk();
    const [one, two] = [await desk.open(), await desk.open()];
    const { id, done } = one.tools.start('slow', {}, { id: identity, labels: { team: 'desk' } });
    const run = await id;
    await expect.poll(() => desk.ran()).toBe(1);
    expect(await two.tools.outcome(run, { waitMs: 0 })).toEqual({ status: 'running', run_id: run });
    const [shown] = await two.runs.list({ labels: { team: 'desk' } });
    expect(shown).toMatchObject({ run_id: run, kind: 'tool', name: 'slow', status: 'running' });
    await two.runs.cancel(run, mara);
    const cancelled = {
      status: 'failed',
      error: { code: 'ABORTED', message: expect.stringContaining('mara') },
    };
    expect(await done).toMatchObject(cancelled);
    const [pid = ''] = readFileSync(join(desk.folder, 'pids.txt'), 'utf8').split('\n');
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    await one.close();
    expect(await (await desk.open()).tools.outcome(run)).toMatchObject(cancelled);
    expect(await two.tools.call('slow', {}, { identity })).toMatchObject(cancelled);
  });

  test('without an id, a call that waits is found, and a delivered one is a new call', async () => {
    const desk = await openDesk();
    const [one, two] = [await desk.open(), await desk.open()];
    const options = { identity: { principal: 'key_1' } };
    const first = pendingOf(await one.tools.call('pay', { cents: 1 }, options));
    expect(pendingOf(await two.tools.call('pay', { cents: 1 }, options))).toEqual(first);
    const others = [
      await one.tools.call('pay', { cents: 2 }, options),
      await one.tools.call('pay', '{"cents": 1.0}', options),
      await one.tools.call('pay', { cents: 1 }, { identity: { principal: 'key_2' } }),
      await one.tools.call('pay', { cents: 1 }),
    ].map((document) => pendingOf(document).id);
    expect(new Set([...others, first.id]).size).toBe(5);
    await one.pending.approve(first.id, mara);
    const ended = await Promise.all(
      Array.from({ length: 10 }, () => two.tools.call('pay', { cents: 1 }, options)),
    );
    for (const document of ended) expect(document).toMatchObject({ status: 'ok', result: { ran: 1 } });
    expect(pendingOf(await one.tools.call('pay', { cents: 1 }, options)).id).not.toBe(first.id);
    expect(await one.tools.call('read', {}, options)).toMatchObject({ result: { ran: 2 } });
    expect(await one.tools.call('read', {}, options)).toMatchObject({ result: { ran: 3 } });
  });
}

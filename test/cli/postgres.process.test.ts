import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrations } from '../../src/store/postgres/layout/migrations.ts';
import {
  hasPostgres,
  password,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { fixture, run, runJson, start, suite, workspace } from './command-line.ts';

const store = 'state_store: {type: postgres, url_env: DATABASE_URL}';
const spec = `
${store}
tools:
  pay: {exec: {command: ${fixture('print-stdin')}}, approval: required}
`;

test('a store without its variable is refused with what to set, and no other store replaces it [DS-POSTGRES-01]', async () => {
  const cwd = workspace(spec);
  const ran = await run('tool call pay', { cwd });
  expect(ran.code).not.toBe(0);
  expect(ran.stderr).toContain('DATABASE_URL, which spec.state_store.url_env names, is not set');
  expect(ran.stderr).toContain('Set DATABASE_URL=postgres://');
  expect(existsSync(join(cwd, '.signalbox/state.db'))).toBe(false);
});

test('a store that is not in Postgres has nothing to migrate', async () => {
  const cwd = workspace('tools: {}');
  const { code, stderr } = await run('store migrate', { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('is not in Postgres')]);
});

describe.runIf(hasPostgres)(`commands over a Postgres store${unlessMissing}`, () => {
  let server: TestServer;
  let env: Record<string, string>;
  beforeAll(async () => {
    server = await startServer();
    env = { DATABASE_URL: await server.newUrl('tcp') };
  });
  afterAll(() => server?.remove());

  test('a command creates the tables, and doctor reports their version', async () => {
    const known = migrations.length;
    const cwd = workspace(spec);
    const state = async () => {
      const { document } = await runJson('doctor', { cwd, env });
      const { checks } = document as { checks: { check: string; status: string; message: string }[] };
      return checks
        .filter(({ check }) => ['state store', 'waiting', 'server clock'].includes(check))
        .map(({ status, message }) => `${status}: ${message}`);
    };
    expect((await state())[0]).toMatch(/^ok: has no tables/);
    expect((await runJson('store migrate', { cwd, env })).document).toMatchObject({
      from: 0,
      to: known,
    });
    expect((await run('store migrate', { cwd, env })).stdout).toMatch(
      new RegExp(`has version ${known} already\n$`),
    );
    expect(await state()).toEqual([
      `ok: is usable, version ${known} of ${known}`,
      'ok: 0 calls for a person, 0 runs not ended',
      'ok: agrees with the clock of the server',
    ]);
    const gone = await run('doctor', {
      cwd,
      env: { DATABASE_URL: 'postgres://u:pw-of-nobody@127.0.0.1:1/x' },
    });
    expect([gone.code, gone.stdout]).toEqual([1, expect.stringContaining('cannot be reached')]);
    expect(gone.stdout).not.toContain('pw-of-nobody');
  });

  test('a pin that is accepted in one folder counts in another, where a changed tool is denied', async () => {
    const tool = '{"name":"read","inputSchema":{"type":"object"}}';
    const shop = (sent: string) =>
      workspace(
        `${store}\nmcp_servers:\n  - {name: shop, command: '${fixture('mcp-lists')}', args: [sent], pins: required}\n`,
        { sent: `\n${sent}\n` },
      );
    const [here, there, changed] = [shop(tool), shop(tool), shop(tool.replace('}}', '},"x":1}'))];
    const call = async (cwd: string) => (await runJson('tool call shop__read', { cwd, env })).document;
    const denied = { status: 'failed', error: { code: 'DEFINITION_UNACCEPTED' } };
    expect(await call(here)).toMatchObject(denied);
    const { document } = await runJson('mcp pin shop', { cwd: there, env });
    const { digest } = document as { digest: string };
    expect((await run(`mcp pin shop --digest ${digest} --by ada`, { cwd: there, env })).code).toBe(0);
    expect(await call(here)).toMatchObject({ status: 'ok' });
    expect(await call(changed)).toMatchObject(denied);
  });

  test('a waiting call is decided in another folder, as on another machine, and continues there [DS-POSTGRES-11]', async () => {
    const [here, there] = [workspace(spec), workspace(spec)];
    const { code } = await run(`tool call pay --args '{"amount": 5}'`, { cwd: here, env });
    expect(code).toBe(3);
    expect(existsSync(join(here, '.signalbox/state.db'))).toBe(false);
    // Another machine does not have this file.
    rmSync(join(here, 'runtime.yaml'));
    const { document } = await runJson('pending list', { cwd: there, env });
    const { pending } = document as { pending: { id: string; run_id: string }[] };
    expect(pending).toHaveLength(1);
    const [call] = pending;
    const approved = await run(['pending', 'approve', call?.id ?? '', '--resume'], { cwd: there, env });
    expect(approved.code).toBe(0);
    const shown = await runJson(['runs', 'show', call?.run_id ?? ''], { cwd: there, env });
    expect(shown.document).toMatchObject({ status: 'completed' });
  });

  test('what the database holds is in no file beside the config [DS-POSTGRES-03]', async () => {
    const cwd = workspace(spec);
    const commands = [
      ['keys', 'create', 'team'],
      ['keys', 'list'],
      ['audit', 'list'],
      ['eval', 'list'],
      ['runs', 'list'],
    ];
    for (const command of commands) {
      const { stdout, stderr } = await run(command, { cwd, env });
      expect(stdout + stderr).not.toContain(password);
    }
    expect((await run('keys show team', { cwd: workspace(spec), env })).code).toBe(0);
    expect(existsSync(join(cwd, '.signalbox'))).toBe(false);
  });

  test('a suite that is killed on one machine continues on another, with the same result [DS-POSTGRES-14]', async () => {
    const rows = Array.from({ length: 6_000 }, (_, at) => JSON.stringify({ id: `c${at}`, n: at % 7 }));
    const files = { 'rows.jsonl': `${rows.join('\n')}\n`, 'demo.suite.yaml': suite(evals) };
    const cwd = workspace(store, files);
    const killed = start(['eval', 'run', 'demo.suite.yaml'], { cwd, env });
    const known = async () => {
      const { document } = await runJson('eval list', { cwd, env });
      return (document as { runs: { id: string; cases: number }[] }).runs.filter(({ cases }) => cases > 0);
    };
    await expect.poll(async () => (await known()).length, { timeout: 20_000 }).toBe(1);
    killed.child.kill('SIGKILL');
    await killed.ran;
    const resumed = await runJson('eval run demo.suite.yaml --resume', { cwd, env });
    const fresh = await runJson('eval run demo.suite.yaml --no-store', { cwd, env });
    const [kept] = await known();
    expect(untimed(resumed.document)).toEqual(untimed(fresh.document));
    expect(resumed.document).toMatchObject({ run_id: kept?.id });
    expect(kept?.cases).toBe(6_000);
    const shown = await runJson(['eval', 'show', kept?.id ?? '', '--case', 'c6'], { cwd, env });
    expect(JSON.stringify(shown.document)).toContain('"c6"');
    expect(existsSync(join(cwd, '.signalbox'))).toBe(false);
  }, 60_000);
});

const evals = `runtime: ./runtime.yaml
dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: "number \${case.n}", tags: ["n\${case.n}"]}
evals: [{id: six, type: contains, params: {patterns: ["6"]}}]
gates: [{eval: six, metric: pass_rate, min: 0.1}]
`;

/** A report without what differs from run to run. */
function untimed(document: unknown): Record<string, unknown> {
  const text = JSON.stringify(document, (key, value: unknown) =>
    /_ms$|^run_id$|^started_at$|^latency$|^duration/.test(key) ? undefined : value,
  );
  return JSON.parse(text);
}

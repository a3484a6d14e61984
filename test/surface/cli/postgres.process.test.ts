import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  hasPostgres,
  password,
  startServer,
  type TestServer,
  unlessMissing,
} from '../../store/postgres/server.ts';
import { fixture, run, runJson, workspace } from './command-line.ts';

const store = 'state_store: {type: postgres, url_env: DATABASE_URL}';
const spec = `
${store}
tools:
  pay: {exec: {command: ${fixture('print-stdin')}}, approval: required}
`;

test('without its variable a store is none, says what to set, and no other one takes its place [DS-POSTGRES-01]', async () => {
  const cwd = workspace(spec);
  const ran = await run(['tool', 'call', 'pay'], { cwd });
  expect(ran.code).not.toBe(0);
  expect(ran.stderr).toContain('DATABASE_URL, which spec.state_store.url_env names, is not set');
  expect(ran.stderr).toContain('Set DATABASE_URL=postgres://');
  expect(existsSync(join(cwd, '.signalbox/state.db'))).toBe(false);
});

test('a store that is no Postgres one has nothing to migrate', async () => {
  const cwd = workspace('tools: {}');
  const { code, stderr } = await run(['store', 'migrate'], { cwd });
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

  test('tables are made by a command, and doctor tells their version', async () => {
    const cwd = workspace(spec);
    const state = async () => {
      const { document } = await runJson(['doctor'], { cwd, env });
      const { checks } = document as { checks: { check: string; status: string; message: string }[] };
      return checks
        .filter(({ check }) => ['state store', 'waiting', 'server clock'].includes(check))
        .map(({ status, message }) => `${status}: ${message}`);
    };
    expect((await state())[0]).toMatch(/^ok: has no tables/);
    expect((await runJson(['store', 'migrate'], { cwd, env })).document).toMatchObject({ from: 0, to: 1 });
    expect((await run(['store', 'migrate'], { cwd, env })).stdout).toMatch(/is of version 1 already\n$/);
    expect(await state()).toEqual([
      'ok: can be used, version 1 of 1',
      'ok: 0 calls for a person, 0 runs not ended',
      'ok: agrees with that of the server',
    ]);
    const gone = await run(['doctor'], {
      cwd,
      env: { DATABASE_URL: 'postgres://u:pw-of-nobody@127.0.0.1:1/x' },
    });
    expect([gone.code, gone.stdout]).toEqual([1, expect.stringContaining('cannot be reached')]);
    expect(gone.stdout).not.toContain('pw-of-nobody');
  });

  test('a call that waits is decided in another folder, as on another machine, and goes on there [DS-POSTGRES-11]', async () => {
    const [here, there] = [workspace(spec), workspace(spec)];
    const { code } = await run(['tool', 'call', 'pay', '--args', '{"amount": 5}'], { cwd: here, env });
    expect(code).toBe(3);
    expect(existsSync(join(here, '.signalbox/state.db'))).toBe(false);
    // On another machine there is no such file.
    rmSync(join(here, 'runtime.yaml'));
    const { document } = await runJson(['pending', 'list'], { cwd: there, env });
    const { pending } = document as { pending: { id: string; run_id: string }[] };
    expect(pending).toHaveLength(1);
    const [call] = pending;
    const approved = await run(['pending', 'approve', call?.id ?? '', '--resume'], { cwd: there, env });
    expect(approved.code).toBe(0);
    const shown = await runJson(['runs', 'show', call?.run_id ?? ''], { cwd: there, env });
    expect(shown.document).toMatchObject({ status: 'completed' });
  });

  test('what is kept in files as yet is refused, and kept nowhere [DS-POSTGRES-03]', async () => {
    const cwd = workspace(spec);
    for (const command of [
      ['eval', 'list'],
      ['keys', 'list'],
      ['audit', 'verify'],
    ]) {
      const { code, stderr } = await run(command, { cwd, env });
      expect([command, code !== 0, stderr.includes('not kept in a Postgres state store yet')]).toEqual([
        command,
        true,
        true,
      ]);
      expect(stderr).not.toContain(password);
    }
    expect(existsSync(join(cwd, '.signalbox'))).toBe(false);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../store/postgres/server.ts';
import { config, folderOf, run, runJson, signalbox, suite, workspace } from './command-line.ts';

const store = 'state_store: {type: postgres, url_env: DATABASE_URL}';
const writer = fileURLToPath(new URL('../runtime/shadow-writer.ts', import.meta.url));

describe.runIf(hasPostgres)(`results that machines share${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const newEnv = async () => ({ DATABASE_URL: await server.newUrl('tcp') });

  test('runs of one machine are listed, shown, compared and pruned on another [DS-POSTGRES-14]', async () => {
    const env = await newEnv();
    const here = workspace(store, { 'good.suite.yaml': suiteOf(1), 'bad.suite.yaml': suiteOf(0) });
    const good = await runJson('eval run good.suite.yaml', { cwd: here, env });
    const bad = await runJson('eval run bad.suite.yaml', { cwd: here, env });
    const there = { cwd: workspace(store), env };
    expect((await runJson('eval list', there)).document).toMatchObject({
      runs: [
        { id: idOf(bad.document), status: 'failed', cases: 1 },
        { id: idOf(good.document), status: 'passed', cases: 1 },
      ],
    });
    expect((await runJson(['eval', 'show', idOf(good.document)], there)).document).toMatchObject(
      objectOf(good.document),
    );
    expect((await runJson('eval diff last~1 last', there)).document).toMatchObject({
      a: { run_id: idOf(good.document) },
      evals: [{ regressions: 1 }],
    });
    const rate = ['eval', 'rate', idOf(good.document), '--case', 'one', '--label', 'fail', '--by', 'mara'];
    expect((await runJson(rate, there)).code).toBe(0);
    const agreed = await runJson(['eval', 'agreement', idOf(good.document)], { cwd: here, env });
    expect(agreed.document).toMatchObject({
      cases: { people: [{ by: 'mara', agreement: { n: 1, only_eval: 1 } }] },
    });
    const pruned = await runJson('eval prune --older-than 0s', there);
    expect(pruned.document).toMatchObject({ pruned: 2 });
    expect((await runJson('eval list', { cwd: here, env })).document).toEqual({ runs: [] });
  });

  test('an answer that one process cached is used by another [DS-POSTGRES-14]', async () => {
    const env = await newEnv();
    const cwd = folderOf({
      'runtime.yaml': config(`${store}\ntools:\n  says: {exec: {command: ./says.sh}}\n`),
      'says.sh': '#!/bin/sh\ncat >/dev/null\necho start >>starts\necho \'{"result": "yes"}\'\n',
      'demo.suite.yaml': suite(asks),
    });
    const command = ['eval', 'run', 'demo.suite.yaml', '--cache'];
    const first = await runJson(command, { cwd, env, binary: true });
    const again = await runJson(command, { cwd, env, binary: true });
    expect([first.code, again.code]).toEqual([0, 0]);
    expect(readFileSync(join(cwd, 'starts'), 'utf8')).toBe('start\n'.repeat(3));
    // The folder has the models' answers, the database everything else.
    expect(existsSync(join(cwd, '.signalbox/evals.db'))).toBe(false);
  });

  test('shadow decisions of three processes form one collection, each once [DS-POSTGRES-14]', async () => {
    const env = await newEnv();
    const cwd = workspace(`${store}\nhooks:\n  old: {command: sh, hook: tool, mode: shadow}\n`);
    const children = ['a', 'b', 'c'].map((prefix) =>
      spawn(signalbox[0], [writer, join(cwd, 'runtime.yaml'), 'old', prefix, '400'], {
        env: { ...process.env, ...env },
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    const ends = children.map(async (child) => (await once(child, 'close'))[0]);
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    for (const child of children) child.stdin.end('go\n');
    expect(await Promise.all(ends)).toEqual([0, 0, 0]);
    const { document } = await runJson('eval list', { cwd, env });
    expect(document).toMatchObject({ runs: [{ kind: 'shadow', cases: 1200 }] });
    const { runs } = document as { runs: { id: string }[] };
    const id = runs[0]?.id ?? '';
    const { code, stdout } = await run(`eval show ${id} --case 'b-399 before_execution'`, {
      cwd,
      env,
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining('would_deny')]);
  });
});

const asks = `runtime: ./runtime.yaml
cases: [{id: a, q: 1}, {id: b, q: 2}, {id: c, q: 3}]
subject: {tool: says, args: {q: "\${case.q}"}}
evals: [{id: yes, type: contains, params: {patterns: ["yes"]}}]
`;

function suiteOf(score: 0 | 1): string {
  const pattern = score === 1 ? 'x' : 'y';
  return suite(
    `cases: [{id: one, content: x}]\nevals: [{id: exact, type: contains, params: {patterns: [${pattern}]}}]\n`,
  );
}

function idOf(document: unknown): string {
  return String(objectOf(document)['run_id']);
}

function objectOf(document: unknown): Record<string, unknown> {
  return document as Record<string, unknown>;
}

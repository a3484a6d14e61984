import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { folderOf, run, start, suite, workspace } from './command-line.ts';

const suiteText = suite(
  'cases: [{id: one, content: hello}]\nevals: [{id: hi, type: contains, params: {patterns: [hello]}}]\n',
);

async function keptFolder(): Promise<string> {
  const cwd = workspace('{}\n', { 's.suite.yaml': suiteText });
  for (let times = 0; times < 2; times += 1)
    await run('eval run s.suite.yaml --quiet --reporter jsonl=run.jsonl', { cwd });
  return cwd;
}

async function startView(cwd: string, ...args: string[]) {
  const { child, ran } = start(['eval', 'view', '--json', ...args], { cwd });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const [line] = await Promise.race([once(lines, 'line'), ran.then(({ stderr }) => [stderr])]);
  return { child, ran, url: new URL(JSON.parse(String(line)).url) };
}

/** What the first page reads from the API, by its address. */
async function enter(url: URL): Promise<string> {
  const path = url.pathname.replace('/console/', '/');
  const route =
    path === '/evals'
      ? '/evals/runs'
      : path.endsWith('/compare')
        ? path
        : path.replace(/([^/]+)$/, 'runs/$1/report');
  const authorization = `Bearer ${url.hash.replace('#key=', '')}`;
  return await (
    await fetch(new URL(`/api/v1${route}${url.search}`, url), { headers: { authorization } })
  ).text();
}

test('two views can be open at once, and Ctrl-C ends each cleanly and at once', async () => {
  const cwd = await keptFolder();
  const [one, other] = [await startView(cwd), await startView(cwd)];
  expect(one.url.port).not.toBe(other.url.port);
  for (const { url } of [one, other]) expect(JSON.parse(await enter(url)).runs).toHaveLength(2);
  for (const { child, ran } of [one, other]) {
    child.kill('SIGINT');
    expect(await ran).toMatchObject({ code: 0, stderr: '' });
  }
});

test('view shows one run directly, compares two, and needs no config for files', async () => {
  const cwd = await keptFolder();
  expect(await enter((await startView(cwd, 'last')).url)).toMatch(/^header \{/m);
  expect(await enter((await startView(cwd, 'last~1', 'last')).url)).toContain('"title":"Evals compared"');
  const elsewhere = folderOf({});
  const file = `${cwd}/run.jsonl`;
  expect(await enter((await startView(elsewhere, file)).url)).toMatch(/^report \{/m);
});

test('a port in use, a foreign host and a missing run are reported with the next step', async () => {
  const cwd = await keptFolder();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const failed = async (...args: string[]) => {
    const { code, stdout } = await run(['eval', 'view', '--json', ...args], { cwd });
    const { error } = JSON.parse(stdout);
    return [code, error.code, error.hint === ''];
  };
  expect(await failed('--port', String(port))).toEqual([2, 'LISTEN_FAILED', false]);
  expect(await failed('--host', '0.0.0.0')).toEqual([2, 'LISTEN_FAILED', false]);
  expect(await failed('--port', '70000')).toEqual([2, 'USAGE', false]);
  expect(await failed('nothing')).toEqual([2, 'RUN_UNKNOWN', false]);
  expect(await failed('absent.jsonl')).toEqual([2, 'FILE_UNREADABLE', false]);
});

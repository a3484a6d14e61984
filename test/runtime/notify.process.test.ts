import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { config, fixture, folderOf, pipeline, run, start, until } from '../cli/command-line.ts';

const all = '[pending, decided, failed, completed]';
const told = '#!/bin/sh\ncat >> told.jsonl\necho >> told.jsonl\n';
const files = {
  'told.sh': told,
  'pay.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: pay, tool: refund}]\noutput: done\n'),
  'echo.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: one, tool: echo}]\n'),
  'lost.yaml': pipeline('runtime: ./runtime.yaml\nsteps: [{id: one, tool: lost}]\n'),
};
const spec = (notify: string) => `
state_store: {type: sqlite}
notify: ${notify}
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
  refund: {exec: {command: ${fixture('pending.sh')}}}
  lost: {exec: {command: ./lost.sh, env: ["API_KEY=hunter2hunter2"]}}
`;

function desk(notify: string, more: Readonly<Record<string, string>> = {}): string {
  const lost = '#!/bin/sh\necho "$API_KEY" >&2\nexit 3\n';
  return folderOf({ 'runtime.yaml': config(spec(notify)), 'lost.sh': lost, ...files, ...more });
}

async function openIn(folder: string) {
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  onTestFinished(() => runtime.close());
  return runtime;
}

interface Told {
  readonly event: string;
  readonly id: string;
  readonly run: { readonly run_id: string; readonly status: string };
  readonly pending?: { readonly id: string; readonly message: string; readonly status: string };
  readonly commands: Readonly<Record<string, string>>;
  readonly link?: string;
}

function toldIn(folder: string): Told[] {
  const file = join(folder, 'told.jsonl');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test('people receive a waiting call, its question and how to decide; then the decision and the end [DS-NOTIFY-01]', async () => {
  const folder = desk(`[{command: ./told.sh, on: ${all}}]`);
  const runtime = await openIn(folder);
  const { run_id } = await runtime.run(join(folder, 'pay.yaml'), {}, { labels: { order: 'A-17' } });
  await until(() => toldIn(folder).length === 1);
  const [waiting] = toldIn(folder);
  expect(waiting).toMatchObject({
    event: 'pending',
    attempt: 1,
    run: { run_id, kind: 'pipeline', name: 'desk', status: expect.any(String), labels: { order: 'A-17' } },
    pending: { message: 'Refund 250 EUR?', tool: 'refund', status: 'open' },
  });
  const id = waiting?.pending?.id ?? '';
  expect(waiting?.commands['approve']).toBe(
    `signalbox pending approve ${id} --config ${join(folder, 'runtime.yaml')}`,
  );
  const words = waiting?.commands['approve']?.split(' ').slice(1) ?? [];
  expect(await run(words, { cwd: '/' })).toMatchObject({ code: 0 });
  await runtime.runs.resume(run_id);
  await runtime.run(join(folder, 'lost.yaml'), {});
  await until(() => toldIn(folder).length >= 4);
  const events = toldIn(folder).map(({ event, run: about }) => `${event} ${about.status}`);
  expect(events.toSorted()).toEqual([
    'completed completed',
    'decided pending',
    'failed failed',
    expect.stringMatching(/^pending /),
  ]);
  expect(new Set(toldIn(folder).map(({ id: notice }) => notice)).size).toBe(4);
  expect(readFileSync(join(folder, 'told.jsonl'), 'utf8')).not.toContain('hunter2hunter2');
});

test('a message links to the page of its call or run, without a credential', async () => {
  const folder = desk(`[{command: ./told.sh, on: ${all}}]\nconsole: {listen: "127.0.0.1:8789"}`);
  const runtime = await openIn(folder);
  const { run_id, pending } = await runtime.run(join(folder, 'pay.yaml'), {});
  await runtime.pending.reject(pending[0]?.id ?? '', { by: 'mara' });
  await runtime.runs.resume(run_id);
  await until(() => toldIn(folder).length === 3);
  const page = 'http://127.0.0.1:8789/console';
  const inbox = `${page}/inbox/${pending[0]?.id}`;
  expect(
    toldIn(folder)
      .map(({ event, link }) => `${event} ${link}`)
      .toSorted(),
  ).toEqual([`decided ${inbox}`, `failed ${page}/runs/${run_id}`, `pending ${inbox}`]);
});

test('only the configured notifications are sent, and none without a config [DS-NOTIFY-01]', async () => {
  const folder = desk('[{command: ./told.sh, on: [failed]}]');
  const runtime = await openIn(folder);
  await runtime.run(join(folder, 'echo.yaml'));
  await runtime.run(join(folder, 'lost.yaml'));
  await runtime.close();
  expect(toldIn(folder).map(({ event }) => event)).toEqual(['failed']);
  writeFileSync(join(folder, 'runtime.yaml'), config(spec('[]')));
  const later = await openIn(folder);
  await later.run(join(folder, 'lost.yaml'));
  await later.close();
  expect(toldIn(folder)).toHaveLength(1);
});

test('a failed notification is repeated [DS-NOTIFY-02]', async () => {
  const script = '#!/bin/sh\n[ -e tried ] || { touch tried; exit 1; }\ncat >> told.jsonl\n';
  const folder = desk('[{command: ./told.sh, on: [completed]}]', { 'told.sh': script });
  const runtime = await openIn(folder);
  await runtime.run(join(folder, 'echo.yaml'));
  await until(() => toldIn(folder).length === 1);
  expect(toldIn(folder)).toMatchObject([{ event: 'completed', attempt: 2 }]);
});

test('a hanging target delays neither a run nor the end for long, and the next process notifies it [DS-NOTIFY-03]', async () => {
  const folder = desk('[{command: ./told.sh, on: [completed], grace_ms: 100}]', {
    'told.sh': '#!/bin/sh\nsleep 60\n',
  });
  const runtime = await openIn(folder);
  const since = performance.now();
  await runtime.run(join(folder, 'echo.yaml'));
  expect(performance.now() - since).toBeLessThan(2_000);
  const closing = performance.now();
  await runtime.close();
  expect(performance.now() - closing).toBeLessThan(5_000);
  writeFileSync(join(folder, 'told.sh'), told);
  expect(await run(['pending', 'list'], { cwd: folder })).toMatchObject({ code: 0 });
  expect(toldIn(folder)).toMatchObject([{ event: 'completed' }]);
});

test('the next process sends what a killed one has not sent [DS-NOTIFY-02]', async () => {
  const script = '#!/bin/sh\ntouch began\nsleep 60\n';
  const notify = '[{command: ./told.sh, on: [pending], timeout_ms: 500, grace_ms: 100}]';
  const folder = desk(notify, { 'told.sh': script });
  const { child, ran } = start(['run', 'pay.yaml', '--wait', '--log-level', 'silent'], { cwd: folder });
  await until(() => existsSync(join(folder, 'began')));
  child.kill('SIGKILL');
  await ran;
  writeFileSync(join(folder, 'told.sh'), told);
  chmodSync(join(folder, 'told.sh'), 0o755);
  rmSync(join(folder, 'began'));
  const since = performance.now();
  while (toldIn(folder).length === 0 && performance.now() - since < 15_000) {
    await run(['pending', 'list'], { cwd: folder });
    await sleep(200);
  }
  expect(toldIn(folder)).toMatchObject([{ event: 'pending', attempt: 2 }]);
});

test('notifications are posted to an address, and a redirect is no success [DS-NOTIFY-04]', async () => {
  const got: { readonly url: string | undefined; readonly key: unknown; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      got.push({ url: request.url, key: request.headers['x-key'], body });
      if (got.length === 1) response.writeHead(302, { location: '/elsewhere' });
      else response.writeHead(204);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const folder = desk(`[{url: "http://127.0.0.1:${port}/hook", headers: {X-Key: k1}, on: [completed]}]`);
  const runtime = await openIn(folder);
  await runtime.run(join(folder, 'echo.yaml'));
  await until(() => got.length === 2);
  expect(got.map(({ url, key }) => `${url} ${key}`)).toEqual(['/hook k1', '/hook k1']);
  expect(JSON.parse(got[1]?.body ?? '')).toMatchObject({ event: 'completed', attempt: 2 });
});

test.each([
  { notify: '[{command: ./told.sh}]', says: 'on' },
  { notify: '[{command: ./told.sh, on: [pendng]}]', says: 'pending' },
  { notify: '[{comand: ./told.sh, on: [pending]}]', says: 'command' },
  { notify: '[{on: [pending]}]', says: 'neither `command` nor `url`' },
  { notify: '[{command: ./told.sh, url: "https://a", on: [pending]}]', says: 'cannot be combined' },
  { notify: '[{url: "http://example.com/x", on: [pending]}]', says: 'this machine only' },
  { notify: '[{url: "https://a/x", args: [1], on: [pending]}]', says: 'cannot be combined with' },
  { notify: '[{command: ./none.sh, on: [pending]}]', says: 'none.sh' },
])('validate reports $notify, with its line [DS-NOTIFY-05]', async ({ notify, says }) => {
  const { code, stdout } = await run(['validate'], { cwd: desk(notify) });
  expect(code).toBe(2);
  expect(stdout).toContain(says);
  expect(stdout).toMatch(/^runtime\.yaml:7:\d+ /m);
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { config, run, runJson, workspace } from '../../cli/command-line.ts';
import { type Serving, serve } from '../../cli/serve.ts';

const spec = (text = 'hi') => `
telemetry: {traces: false, metrics: {listen: "127.0.0.1:0"}}
providers:
  - {id: main, type: mock, model: demo, additional_config: {responses: [{text: ${text}}]}}
`;

/** Prometheus finds the metrics where the process says. */
async function ownAddress(serving: Serving): Promise<string> {
  return (await serving.told('Metrics: ')).replace('Metrics: ', '').trim();
}

async function chat({ url }: Serving): Promise<string> {
  const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] });
  const headers = { 'content-type': 'application/json' };
  return await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).text();
}

async function scrape(url: string): Promise<string> {
  return await (await fetch(url)).text();
}

const requestsIn = (text: string) =>
  /^signalbox_gateway_requests_total\{endpoint="chat",status="200",verdict="allow"\} (\d+)$/m.exec(text)?.[1];

test('SIGHUP keeps the counters, and the address of the metrics', async () => {
  const cwd = workspace(spec());
  await using serving = await serve(cwd);
  const own = await ownAddress(serving);
  expect(serving.document).toMatchObject({ metrics: `${serving.url}/metrics` });
  await chat(serving);
  expect([requestsIn(await scrape(own)), requestsIn(await scrape(`${serving.url}/metrics`))]).toEqual([
    '1',
    '1',
  ]);
  writeFileSync(join(cwd, 'runtime.yaml'), config(spec('changed')));
  serving.kill('SIGHUP');
  await serving.told('reloaded: 1 model');
  expect(await chat(serving)).toContain('changed');
  expect([requestsIn(await scrape(own)), requestsIn(await scrape(`${serving.url}/metrics`))]).toEqual([
    '2',
    '2',
  ]);
  writeFileSync(join(cwd, 'runtime.yaml'), 'not a config');
  serving.kill('SIGHUP');
  await serving.told('the config was not reloaded');
  expect(requestsIn(await scrape(own))).toBe('2');
  serving.kill('SIGTERM');
  expect(await serving.ran).toMatchObject({ code: 0 });
  await expect(scrape(own)).rejects.toThrow();
});

test('a process whose address another one has warns, and serves', async () => {
  const tool = 'tools: {ok: {description: x, exec: {command: "true"}}}';
  const cwd = workspace(`${spec()}${tool}\n`);
  await using serving = await serve(cwd);
  const { port } = new URL(await ownAddress(serving));
  const env = { OTEL_EXPORTER_PROMETHEUS_PORT: port, OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1' };
  const { code, stderr } = await run('mcp', { cwd, env, stdin: '' });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^warning: no metrics at 127\.0\.0\.1:\d+: another program listens there/m),
  });
  // Commands that end at once open no server.
  const called = await run(`tool list`, { cwd, env });
  expect(called.stderr).not.toContain('metrics');
});

test('an address that other machines reach needs a key that may read runs', async () => {
  const cwd = workspace(spec());
  const env = { OTEL_EXPORTER_PROMETHEUS_HOST: '0.0.0.0', OTEL_EXPORTER_PROMETHEUS_PORT: '1' };
  const refused = await runJson('serve --listen 127.0.0.1:0', { cwd, env });
  expect([refused.code, refused.document]).toMatchObject([
    2,
    {
      error: {
        code: 'LISTEN_FAILED',
        message: 'other machines can reach 0.0.0.0, and there is no key yet',
        hint: expect.stringContaining('signalbox keys create NAME --role viewer'),
      },
    },
  ]);
});

test('while the state store is locked, a scrape has all but the waiting calls', async () => {
  const cwd = workspace(spec());
  mkdirSync(join(cwd, '.signalbox'));
  const database = new DatabaseSync(join(cwd, '.signalbox/state.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  await using serving = await serve(cwd);
  await chat(serving);
  const own = await ownAddress(serving);
  const [text] = await Promise.all([scrape(own), scrape(own), chat(serving)]);
  expect([requestsIn(text), /^signalbox_pending/m.test(text)]).toEqual([expect.any(String), false]);
  await serving.told('the state store did not answer in time');
  database.exec('ROLLBACK');
  database.close();
  await expect.poll(async () => await scrape(own)).toContain('signalbox_pending{state="open"} 0');
});

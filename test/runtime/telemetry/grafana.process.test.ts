import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { run, runJson, start } from '../../cli/command-line.ts';
import { answerJson, chatAnswer, startUpstream } from '../../gateway/upstream-server.ts';
import { freePort } from '../../store/postgres/server.ts';

const example = join(import.meta.dirname, '../../../examples/telemetry');
const hasPrometheus = ['prometheus', 'promtool'].every((name) => existsSync(`/usr/bin/${name}`));

/** Every expression of the dashboard, as Grafana would send it. */
const queries: readonly string[] = JSON.parse(readFileSync(join(example, 'grafana.json'), 'utf8'))
  .panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets.map(({ expr }) => expr))
  .map((expr: string) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'));

const overlay = (upstream: string) => `
apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  providers:
    - {id: main, type: openai-compatible, model: small, base_url: "${upstream}/v1", credential: {credential_env: DESK_KEY}}
`;

/** Ends the process when the test ends. */
function untilEnd(child: ChildProcess): ChildProcess {
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

test.skipIf(!hasPrometheus)(
  'Prometheus scrapes the example, and each query of the dashboard has a result',
  async () => {
    await using upstream = await startUpstream(({ body }, response) => {
      if (!body.includes('"stream":true'))
        return answerJson(chatAnswer('Hello!', 'small'))({} as never, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta: object, more: object = {}) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'small', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
      response.end(
        `${chunk({ role: 'assistant', content: 'Hi' })}${chunk({ content: '!' })}data: [DONE]\n\n`,
      );
    });
    const cwd = mkdtempSync(join(tmpdir(), 'telemetry-'));
    cpSync(example, cwd, { recursive: true });
    writeFileSync(join(cwd, 'upstream.yaml'), overlay(upstream.url));
    const ports = await Promise.all([freePort(), freePort(), freePort(), freePort(), freePort()]);
    const [web, ...scraped] = ports;
    const config = ['--config', 'runtime.yaml', '--config', 'upstream.yaml'];
    const envAt = (port: number | undefined) => ({
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      DESK_KEY: 'x',
    });
    const serving = async (args: readonly string[], port: number | undefined) => {
      const { child, ran } = start([...args, ...config, '--json'], { cwd, env: envAt(port) });
      untilEnd(child);
      if (child.stdout === null) throw new Error('no stdout');
      const failed = ran.then(({ stderr }) => {
        throw new Error(stderr);
      });
      const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), failed]);
      return JSON.parse(line).url;
    };
    const gateway = await serving(['serve', '--listen', '127.0.0.1:0'], scraped[0]);
    const mcp = await serving(['mcp', '--http', '127.0.0.1:0'], scraped[1]);
    await serving(['work'], scraped[2]);

    const text = readFileSync(join(cwd, 'prometheus.yml'), 'utf8');
    const targets = scraped.map((port) => `127.0.0.1:${port}`).join(', ');
    writeFileSync(
      join(cwd, 'prometheus.yml'),
      text.replace('15s', '1s').replace(/targets: \[127.*\]/, `targets: [${targets}]`),
    );
    untilEnd(
      spawn(
        '/usr/bin/prometheus',
        [
          ...['--config.file', 'prometheus.yml', '--storage.tsdb.path', join(cwd, 'data')],
          ...['--web.listen-address', `127.0.0.1:${web}`, '--log.level', 'error'],
        ],
        { cwd, stdio: 'ignore' },
      ),
    );

    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const post = async (url: string, body: object) =>
      await (await fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) })).text();
    const refund = async (amount: number) =>
      await post(mcp, {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'refund', arguments: { amount } },
      });
    const chat = async (more: object = {}) =>
      await post(`${gateway}/v1/chat/completions`, {
        ...{ model: 'small', messages: [{ role: 'user', content: 'hi' }], ...more },
      });
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const traffic = (async () => {
      while (!ending.signal.aborted) {
        await Promise.all([chat(), chat({ stream: true }), refund(5), refund(13), sleep(400)]);
      }
    })();
    traffic.catch(() => {});
    // Enough cases to be scraped more than once.
    const suite = readFileSync(join(cwd, 'answers.suite.yaml'), 'utf8');
    const cases = Array.from({ length: 5_000 }, (_, id) =>
      JSON.stringify({ id, text: id % 2 ? 'Thank you!' : '' }),
    );
    writeFileSync(join(cwd, 'cases.jsonl'), cases.join('\n'));
    const ofFile = suite.replace(/^ {2}cases:\n( {4}.*\n)*/m, '  dataset: {path: cases.jsonl}\n');
    writeFileSync(join(cwd, 'many.suite.yaml'), ofFile);
    const judging = ['eval', 'run', 'many.suite.yaml', ...config, '--no-store', '--concurrency', '1'];
    untilEnd(start(judging, { cwd, env: envAt(scraped[3]) }).child);
    // One call waits; the others are approved, and `work` ends their runs.
    const startRun = async () =>
      await runJson(['run', 'refund.pipeline.yaml', ...config, '--input', '{"amount": 500}'], {
        cwd,
        env: envAt(0),
      });
    await startRun();
    const approve = async () => {
      const { document } = await startRun();
      const [{ id }] = (document as { pending: [{ id: string }] }).pending;
      expect(await run(['pending', 'approve', id, ...config], { cwd, env: envAt(0) })).toMatchObject({
        code: 0,
      });
    };

    const resultOf = async (query: string): Promise<boolean> => {
      const answer = await fetch(`http://127.0.0.1:${web}/api/v1/query?${new URLSearchParams({ query })}`);
      const { status, data } = JSON.parse(await answer.text());
      expect([query, status]).toEqual([query, 'success']);
      return data.result.some(({ value }: { value: [number, string] }) => Number.isFinite(Number(value[1])));
    };
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${web}/-/ready`).catch(() => undefined))?.status)
      .toBe(200);
    let empty = queries;
    const deadline = performance.now() + 150_000;
    while (empty.length > 0 && performance.now() < deadline) {
      await Promise.all([approve(), sleep(1_000)]);
      const has = await Promise.all(empty.map(resultOf));
      empty = empty.filter((_, index) => !has[index]);
    }
    expect(empty).toEqual([]);

    const scrape = await (await fetch(`${gateway}/metrics`)).text();
    const checked = spawnSync('/usr/bin/promtool', ['check', 'metrics'], { input: scrape, encoding: 'utf8' });
    expect({ status: checked.status, said: checked.stderr }).toEqual({ status: 0, said: '' });
    ending.abort();
    await traffic;
  },
  180_000,
);

test.skipIf(!hasPrometheus)('promtool accepts prometheus.yml', () => {
  const { status, stdout } = spawnSync('/usr/bin/promtool', ['check', 'config', 'prometheus.yml'], {
    cwd: example,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('SUCCESS') });
});

test('every query of the dashboard is of an instrument that the reference lists', () => {
  const page = readFileSync(join(example, '../../docs/reference/telemetry.md'), 'utf8');
  const names = queries.flatMap((query) =>
    [...query.matchAll(/\b(?:gen_ai|signalbox)_\w+(?=\{)/g)].map(([name]) => name),
  );
  expect(queries.length).toBeGreaterThan(20);
  const unknown = names.filter((name) => !page.includes(`\`${name.replace(/_(count|sum|bucket)$/, '')}\``));
  expect(unknown).toEqual([]);
});

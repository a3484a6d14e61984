import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { openRuntime } from '../../../src/runtime/open-runtime.ts';
import { loadMetrics, loadServer, type Runtime } from '../../../src/runtime/runtime.ts';
import { closedAddress } from '../../gateway/http/callers-server.ts';
import { manage } from '../../gateway/keys/open.ts';
import { write } from '../open.ts';

type Telemetry = Runtime['telemetry'];

const { metricsMount, metricsServers } = await loadMetrics();
const type = 'text/plain; version=0.0.4; charset=utf-8';
const says = (text: string): Telemetry => ({ metrics: async () => ({ type, text }) });

/** A runtime with such telemetry, until the test ends. */
async function openWith(telemetry: Telemetry, file = write('')): Promise<Runtime> {
  const runtime = await openRuntime(file, { log: false });
  onTestFinished(() => runtime.close());
  return { ...runtime, telemetry };
}

async function freeAddress(): Promise<string> {
  return new URL(await closedAddress()).host;
}

/** The status, type and body of the response. */
async function get(url: string, init: RequestInit = {}) {
  const response = await fetch(url, { headers: { connection: 'close' }, ...init });
  return [response.status, response.headers.get('content-type'), await response.text()];
}

const serving = async (telemetry: Telemetry, listen = '127.0.0.1:0', file = write('')) => {
  const mount = metricsMount();
  const given = { telemetry };
  const { serveRuntimes } = await loadServer();
  const served = await serveRuntimes({
    mounts: [mount],
    open: async () => await openWith(given.telemetry, file),
    listen,
    print: () => {},
  });
  onTestFinished(async () => void (await served.close()));
  return { ...served, given, metricsAt: () => mount.addressAt(served.url) };
};

describe('at /metrics of another server', () => {
  test('only GET and HEAD of this one path are answered', async () => {
    const { url, metricsAt } = await serving(says('up 1\n'));
    expect(metricsAt()).toEqual({ url: `${url}/metrics` });
    expect(await get(`${url}/metrics`)).toEqual([200, type, 'up 1\n']);
    expect(await get(`${url}/metrics?x=1`)).toEqual([200, type, 'up 1\n']);
    expect(await get(`${url}/metrics`, { method: 'HEAD' })).toEqual([200, type, '']);
    const posted = await fetch(`${url}/metrics`, { method: 'POST', body: 'x' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    for (const path of ['/metrics/', '/metricsx', '/v1/metrics', '//metrics'])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 404]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('a package that is missing is a 503 that says so', async () => {
    const hint = 'Install it: npm install @opentelemetry/sdk-metrics@3.1.0';
    const missing = async () => {
      throw new RuntimeError('CONFIG_INVALID', hint);
    };
    const { url } = await serving({ metrics: missing });
    expect(await get(`${url}/metrics`)).toEqual([503, 'text/plain; charset=utf-8', `${hint}\n`]);
  });

  test('a reload turns metrics off and on', async () => {
    const { url, given, reload, metricsAt } = await serving({});
    const statuses = [[(await get(`${url}/metrics`))[0], metricsAt()]];
    for (const telemetry of [says('a 1\n'), {}, says('b 2\n')]) {
      given.telemetry = telemetry;
      await reload();
      statuses.push([(await get(`${url}/metrics`))[0], metricsAt()]);
    }
    const on = [200, { url: `${url}/metrics` }];
    expect(statuses).toEqual([[404, undefined], on, [404, undefined], on]);
  });

  test('other machines cannot read them until a key may, which one line says', async () => {
    const file = write('state_store: {type: sqlite, path: state.db}');
    const keys = await manage({ type: 'sqlite', file: join(file, '../state.db') });
    await keys.create({ name: 'agent', models: ['*'] });
    const { url, metricsAt } = await serving(says('up 1\n'), '0.0.0.0:0', file);
    expect([(await get(`${url}/metrics`))[0], metricsAt()]).toEqual([
      404,
      {
        reason: expect.stringMatching(
          /^other machines can reach 0\.0\.0\.0, and there is no key yet\. Create/,
        ),
      },
    ]);
  });
});

describe('a server of their own', () => {
  test('stays at its address while runtimes come and go, and the newest open one answers', async () => {
    const listen = await freeAddress();
    const lines: string[] = [];
    const { follow } = metricsServers((line) => void lines.push(line));
    const url = `http://${listen}/metrics`;
    const first = await follow(await openWith({ ...says('a 1\n'), listen }));
    const said = [await get(url)];
    const second = await follow(await openWith({ ...says('b 1\n'), listen }));
    said.push(await get(url));
    // A reload that failed.
    await second.close();
    said.push(await get(url));
    const third = await follow(await openWith({ ...says('c 1\n'), listen }));
    await first.close();
    said.push(await get(url));
    expect(said.map(([, , body]) => body)).toEqual(['a 1\n', 'b 1\n', 'a 1\n', 'c 1\n']);
    expect(await get(`http://${listen}/`)).toEqual([
      404,
      expect.any(String),
      'There is only /metrics here.\n',
    ]);
    await third.close();
    await expect(fetch(url)).rejects.toThrow();
    expect(lines).toEqual([`Metrics: ${url}`]);
    expect(await follow(await openWith(says('d 1\n')))).toMatchObject({ telemetry: {} });
  });

  test('an address that another process has is a warning, and a reload tries it again', async () => {
    const listen = await freeAddress();
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    const [one, other] = [metricsServers(report), metricsServers(report)];
    const has = await one.follow(await openWith({ ...says('a 1\n'), listen }));
    const lacks = await other.follow(await openWith({ ...says('b 1\n'), listen }));
    expect(lacks.tools.list()).toEqual([]);
    expect((await get(`http://${listen}/metrics`))[2]).toBe('a 1\n');
    await has.close();
    const next = await other.follow(await openWith({ ...says('c 1\n'), listen }));
    await lacks.close();
    expect((await get(`http://${listen}/metrics`))[2]).toBe('c 1\n');
    await next.close();
    expect(lines).toEqual([
      `Metrics: http://${listen}/metrics`,
      expect.stringMatching(
        /^warning: no metrics at 127\.0\.0\.1:\d+: another program listens there already\. To serve/,
      ),
      `Metrics: http://${listen}/metrics`,
    ]);
  });

  test('beyond loopback needs a key that may read runs, and the runtime is closed without one', async () => {
    const file = write('state_store: {type: sqlite, path: state.db}');
    const telemetry = { ...says('a 1\n'), listen: '0.0.0.0:0' };
    const lines: string[] = [];
    const { follow } = metricsServers((line) => void lines.push(line));
    const refused = await openWith(telemetry, file);
    await expect(follow(refused)).rejects.toMatchObject({ code: 'LISTEN_FAILED' });
    await expect(refused.tools.call('x')).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' });
    const store = { type: 'sqlite', file: join(file, '../state.db') } as const;
    const keys = await manage(store);
    const { key } = await keys.create({ name: 'prometheus', role: 'viewer' });
    const weak = await keys.create({ name: 'agent', tools: ['*'] });
    const opened = await follow(await openWith(telemetry, file));
    const url = (lines[0]?.replace('Metrics: ', '') ?? '').replace('0.0.0.0', '127.0.0.1');
    const scrape = async (secret: string) =>
      await get(url, { headers: { authorization: `Bearer ${secret}` } });
    expect([(await get(url))[0], (await scrape(weak.key))[0]]).toEqual([401, 403]);
    expect(await scrape(key)).toEqual([200, type, 'a 1\n']);
    await opened.close();
  });
});

describe('scrapes', () => {
  test('at the same time share one reading, and the next one reads again', async () => {
    let readings = 0;
    const metrics = async () => {
      readings += 1;
      await sleep(200);
      return { type, text: `n ${readings}\n` };
    };
    const { url } = await serving({ metrics });
    const bodies = await Promise.all(
      Array.from({ length: 30 }, async () => (await get(`${url}/metrics`))[2]),
    );
    expect([new Set(bodies), (await get(`${url}/metrics`))[2]]).toEqual([new Set(['n 1\n']), 'n 2\n']);
  });

  test('that fail do not fail the next one', async () => {
    let isBroken = true;
    const metrics = async () => {
      if (isBroken) throw new Error('no figures');
      return { type, text: 'n 1\n' };
    };
    const { url } = await serving({ metrics });
    const failed = await get(`${url}/metrics`);
    isBroken = false;
    expect([failed[0], (await get(`${url}/metrics`))[0]]).toEqual([503, 200]);
  });

  test('of readers that stop delay no other one', async () => {
    const text = `${'# a long line of text\n'.repeat(1_000_000)}n 1\n`;
    const { url } = await serving(says(text));
    const { port } = new URL(url);
    const stuck = connect(Number(port), '127.0.0.1');
    stuck.pause();
    stuck.write(`GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    expect(await get(`${url}/metrics`)).toEqual([200, type, text]);
    stuck.destroy();
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { run, runJson, workspace } from '../../cli/command-line.ts';
import { type Serving, serve } from '../../cli/serve.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';
import { answerJson, chatAnswer, startUpstream } from '../upstream-server.ts';

const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] });

interface Answered {
  /** 0: the connection was cut. */
  readonly status: number;
  readonly id: string;
  /** Whether a retry would be refused too. */
  readonly isFinal: boolean;
}

async function ask(url: string, key: string): Promise<Answered> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  try {
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
    await response.text();
    const id = response.headers.get('x-request-id') ?? '';
    return { status: response.status, id, isFinal: response.headers.get('x-should-retry') === 'false' };
  } catch {
    return { status: 0, id: '', isFinal: false };
  }
}

describe.runIf(hasPostgres)(`three gateways on one database under load${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  const begin = async () => {
    const upstream = await startUpstream(async (request, response) => {
      await sleep(Math.random() * 20);
      await answerJson(chatAnswer('hi'))(request, response);
    });
    const env = { DATABASE_URL: await server.newUrl() };
    const pricing = 'pricing: {input_cost_per_1k: 1, output_cost_per_1k: 2}';
    const provider = `{id: main, type: openai-compatible, model: m, base_url: "${upstream.url}/v1", credential: {api_key: sk-up}, ${pricing}}`;
    const cwd = workspace(
      `state_store: {type: postgres, url_env: DATABASE_URL}\nproviders: [${provider}]\ngateway: {keys: {required: true}, audit: {}}`,
    );
    const servers = [await serve(cwd, env), await serve(cwd, env), await serve(cwd, env)];
    const close = async () => {
      for (const each of servers) await each[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    };
    const json = async (...args: readonly string[]) => (await runJson(args, { cwd, env })).document;
    return { upstream, env, cwd, servers, json, [Symbol.asyncDispose]: close };
  };

  test('kill -9 of one replica under load: the budget holds, every call is counted once, no place is lost, and the audit verifies [DS-REPLICAS-13]', async () => {
    await using scene = await begin();
    const { env, cwd, servers, json, upstream } = scene;
    const made = await run(['keys', 'create', 'team', '--concurrent', '12', '--budget-total', '1'], {
      cwd,
      env,
    });
    const key = made.stdout.trim();
    const lanes = 8;
    const answered: string[] = [];
    const lane = async (each: Serving) => {
      for (let failed = 0; failed < 5; ) {
        const { status, id, isFinal } = await ask(each.url, key);
        if (status === 200) answered.push(id);
        // The rest of the budget does not cover another call.
        if (isFinal) return;
        failed = status === 0 ? failed + 1 : 0;
        if (status === 429) await sleep(20);
      }
    };
    const all = Promise.all(servers.flatMap((each) => Array.from({ length: lanes }, () => lane(each))));
    await vi.waitFor(() => expect(answered.length).toBeGreaterThan(40), { timeout: 60_000 });
    servers[0]?.kill('SIGKILL');
    await all;
    const shown = await vi.waitFor(
      async () => {
        const document = await json('keys', 'show', 'team');
        expect(document).toMatchObject({ under_way: 0 });
        return document as { usage: { calls: number; estimated: number; cost: number }[] };
      },
      { timeout: 120_000, interval: 500 },
    );
    const total = shown.usage[2] ?? { calls: 0, estimated: 0, cost: 0 };
    expect(total.cost).toBeLessThanOrEqual(1);
    expect(total.estimated).toBeLessThanOrEqual(lanes);
    expect(total.calls).toBeGreaterThanOrEqual(upstream.seen.length);
    expect(total.calls).toBeLessThanOrEqual(upstream.seen.length + lanes);
    expect(total.calls - total.estimated).toBeGreaterThanOrEqual(answered.length);
    const database = new URL(env.DATABASE_URL).pathname.slice(1);
    expect(await server.ask('SELECT count(*) FROM signalbox.gateway_leases', database)).toEqual([
      { count: '0' },
    ]);
    expect(await json('audit', 'verify')).toMatchObject({ status: 'good', problems: [] });
    const { calls } = (await json('audit', 'list', '--outcome', 'allowed', '--limit', '100000')) as {
      calls: { id: string }[];
    };
    const kept = new Set(calls.map(({ id }) => id));
    expect(answered.filter((id) => !kept.has(id))).toEqual([]);
  });

  test('a database outage of over half a minute: calls are refused, and the servers survive and recover [DS-REPLICAS-14]', async () => {
    await using scene = await begin();
    const { env, cwd, servers, json } = scene;
    const key = (await run(['keys', 'create', 'team'], { cwd, env })).stdout.trim();
    const each = async () => await Promise.all(servers.map(({ url }) => ask(url, key)));
    expect((await each()).map(({ status }) => status)).toEqual([200, 200, 200]);
    await server.stop('immediate');
    const during = each();
    await sleep(1_000);
    await server.start();
    expect((await during).map(({ status }) => status)).toEqual([200, 200, 200]);

    await server.stop('immediate');
    const from = performance.now();
    expect((await each()).map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(performance.now() - from).toBeLessThan(90_000);
    const again = performance.now();
    expect((await each()).map(({ status }) => status)).toEqual([503, 503, 503]);
    // Later callers do not wait as long.
    expect(performance.now() - again).toBeLessThan(25_000);
    await server.start();
    await vi.waitFor(
      async () => expect((await each()).map(({ status }) => status)).toEqual([200, 200, 200]),
      {
        ...{ timeout: 60_000, interval: 500 },
      },
    );
    expect(await json('keys', 'show', 'team')).toMatchObject({ under_way: 0 });
    expect(await json('audit', 'verify')).toMatchObject({ status: 'good' });
  });
});

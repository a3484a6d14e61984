import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { run, workspace } from '../../cli/command-line.ts';
import { serve } from '../../cli/serve.ts';
import { hasPostgres, startServer, type TestServer, unlessMissing } from '../../store/postgres/server.ts';
import { startSlowUpstream } from './slow-upstream.ts';

const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] });

async function ask(url: string, key: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  await response.text();
  return response.status;
}

describe.runIf(hasPostgres)(`gateways on one database${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('two servers with separate folders share one key’s places; a revocation reaches both [DS-REPLICAS-06]', async () => {
    const upstream = await startSlowUpstream();
    await using _ = upstream.server;
    const env = { DATABASE_URL: await server.newUrl() };
    const provider = `{id: main, type: openai-compatible, model: m, base_url: "${upstream.server.url}/v1", credential: {api_key: sk-up}}`;
    const spec = `state_store: {type: postgres, url_env: DATABASE_URL}\nproviders: [${provider}]\ngateway: {keys: {required: true}}`;
    const folders = [workspace(spec), workspace(spec), workspace(spec)] as const;
    await using first = await serve(folders[0], env);
    await using second = await serve(folders[1], env);
    const options = { cwd: folders[2], env };
    const key = (await run(['keys', 'create', 'team', '--concurrent', '4'], options)).stdout.trim();

    const storm = Array.from({ length: 30 }, (__, at) => ask(at % 2 === 0 ? first.url : second.url, key));
    await vi.waitFor(() => expect(upstream.held()).toBe(4), { timeout: 60_000 });
    upstream.release();
    expect(new Set(await Promise.all(storm))).toEqual(new Set([200, 429]));
    expect(upstream.most()).toBe(4);

    expect((await run(['keys', 'revoke', 'team'], options)).code).toBe(0);
    expect(await Promise.all([first, second].map(({ url }) => ask(url, key)))).toEqual([401, 401]);
    const shown = await run(['keys', 'show', 'team', '--json'], options);
    expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'revoked', under_way: 0 });
    for (const each of [first, second]) each.kill('SIGTERM');
    const ran = await Promise.all([first.ran, second.ran]);
    expect(ran.map(({ code }) => code)).toEqual([0, 0]);
    expect(JSON.stringify(ran)).not.toContain(key.slice(8, 40));
  });
});

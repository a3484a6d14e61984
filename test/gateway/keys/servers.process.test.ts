import { expect, test, vi } from 'vitest';
import { run, workspace } from '../../cli/command-line.ts';
import { serve } from '../../cli/serve.ts';
import { startSlowUpstream } from '../replicas/slow-upstream.ts';

const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] });

async function ask(url: string, key: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  await response.text();
  return response.status;
}

test('two servers on one folder share one key’s places; a killed one frees its own; a revocation reaches both', async () => {
  const upstream = await startSlowUpstream();
  await using _ = upstream.server;
  const provider = `{id: main, type: openai-compatible, model: m, base_url: "${upstream.server.url}/v1", credential: {api_key: sk-up}}`;
  const cwd = workspace(`providers: [${provider}]\ngateway: {keys: {required: true}}`);
  await using first = await serve(cwd);
  await using second = await serve(cwd);
  const made = await run(['keys', 'create', 'team', '--concurrent', '4'], { cwd });
  const key = made.stdout.trim();

  const storm = Array.from({ length: 30 }, (__, index) => ask(index % 2 === 0 ? first.url : second.url, key));
  await vi.waitFor(() => expect(upstream.held()).toBe(4), { timeout: 60_000 });
  upstream.release();
  const statuses = await Promise.all(storm);
  expect(upstream.most()).toBe(4);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));

  upstream.hold();
  const lost = Promise.allSettled([
    ask(first.url, key),
    ask(first.url, key),
    ask(first.url, key),
    ask(first.url, key),
  ]);
  await vi.waitFor(() => expect(upstream.held()).toBe(4), { timeout: 60_000 });
  expect(await ask(second.url, key)).toBe(429);
  first.kill('SIGKILL');
  await lost;
  upstream.release();
  await vi.waitFor(async () => expect(await ask(second.url, key)).toBe(200), {
    timeout: 60_000,
    interval: 100,
  });

  expect((await run(['keys', 'revoke', 'team'], { cwd })).code).toBe(0);
  expect(await ask(second.url, key)).toBe(401);
  const shown = await run(['keys', 'show', 'team', '--json'], { cwd });
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'revoked', under_way: 0 });
  second.kill('SIGTERM');
  const logged = await Promise.all([first.ran, second.ran]);
  expect(logged[1]?.code).toBe(0);
  expect(JSON.stringify([logged, upstream.server.seen])).not.toContain(key.slice(8, 40));
});

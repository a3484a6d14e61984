import { expect, test } from 'vitest';
import { fixture } from '../workspace.ts';
import { serve } from './serving.ts';

const spec = `
decisions: {}
hooks:
  guard: {hook: provider, phases: [before_call], command: ${fixture('allow.sh')}}
  strict: {hook: tool, phases: [before_execution], mode: shadow, command: ${fixture('crash-loudly.sh')}}
tools:
  echo: {exec: {command: ${fixture('echo-args')}}}
providers:
  - {id: main, type: mock, model: m, additional_config: {responses: [{text: It is so.}]}}
gateway: {listen: 127.0.0.1:0, audit: {}}
`;

async function open() {
  const served = await serve(spec);
  const { runtime } = served;
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Is it so?' }] });
  const headers = { 'content-type': 'application/json' };
  const gateway = runtime.gateway();
  for (let call = 0; call < 3; call += 1)
    await gateway.fetch(
      new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST', body, headers }),
    );
  await runtime.tools.call('echo', { n: 1 });
  await expect.poll(async () => (await runtime.decisions.counts()).total).toBe(4);
  const get = async (path: string) => {
    const reply = await served.ask(`GET ${path}`);
    expect([path, reply.status]).toEqual([path, 200]);
    return reply.body as Record<string, never[]>;
  };
  return { ...served, get };
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('decisions are listed and counted by every filter, as the library does', async () => {
  const { get, ask, runtime } = await open();
  const since = new Date(Date.now() - 7_200_000);
  const { decisions } = runtime;
  expect(await get('/decisions')).toEqual(asJson(await decisions.page()));
  expect(
    (await get('/decisions?mode=shadow&verdict=deny&hook=strict&operation=tool'))['decisions'],
  ).toHaveLength(1);
  const [first] = (await decisions.page({ hook: 'guard' })).decisions;
  const event = first?.type === 'decision' ? first.event : '';
  const around = `since=${since.toISOString()}&until=${new Date(Date.now() + 1_000).toISOString()}`;
  expect((await get(`/decisions?event=${event}&${around}`))['decisions']).toEqual(asJson([first]));
  const page = await get('/decisions?limit=3');
  expect((await get(`/decisions?limit=3&after=${page['next']}`))['decisions']).toHaveLength(1);
  const counts = await get(`/decisions/counts?every=hour&since=${since.toISOString()}`);
  expect(counts).toEqual(asJson(await decisions.counts({ since, every: 'hour' })));
  expect(counts).toMatchObject({
    total: 4,
    dropped: 0,
    counts: [
      { hook: 'guard', mode: 'filter', verdict: 'allow', count: 3 },
      { hook: 'strict', mode: 'shadow', verdict: 'deny', count: 1 },
    ],
  });
  const hours = counts['buckets'] as unknown as { at: string; count: number }[];
  expect(hours.every(({ at }) => at.endsWith(':00:00.000Z'))).toBe(true);
  expect(hours.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  expect((await get(`/decisions/counts?every=day&since=2020-01-01T00:00:00Z`))['total']).toBe(4);
  for (const [query, path] of [
    ['every=hour', 'every'],
    ['every=hour&since=2020-01-01T00:00:00Z', 'every'],
    ['every=week&since=2020-01-01T00:00:00Z', 'every'],
    ['verdict=maybe', 'verdict'],
    ['since=now', 'since'],
  ])
    expect(await ask(`GET /decisions/counts?${query}`)).toMatchObject({
      status: 400,
      body: { error: { path } },
    });
});

test('the audit of the gateway is read in pages', async () => {
  const { get, ask, runtime } = await open();
  const whole = await get('/audit');
  expect(whole).toEqual(asJson(await runtime.audit.page()));
  expect(whole['calls']).toMatchObject([{ model: 'm', outcome: 'allowed' }, {}, {}]);
  const page = await get('/audit?limit=2&outcome=allowed');
  expect((await get(`/audit?limit=2&outcome=allowed&after=${page['next']}`))['calls']).toEqual(
    whole['calls']?.slice(2),
  );
  expect(await get('/audit?model=other')).toEqual({ calls: [] });
  expect(await ask('GET /audit?after=x')).toMatchObject({ status: 400, body: { error: { path: 'after' } } });
});

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { NewKey } from '../../../src/gateway/keys/manager.ts';
import { loadSqlite } from '../../../src/store/sqlite/node-sqlite.ts';
import { manage } from '../keys/open.ts';
import { answerJson } from '../upstream-server.ts';
import { type Answer, answerChat, ask, noting, open, path } from './open.ts';

const { DatabaseSync } = loadSqlite();
const price = (input: number) => `pricing: {input_cost_per_1k: ${input}, output_cost_per_1k: 0},`;
const small = { ...ask, max_tokens: 1 };
const silent: Answer = () => {};

async function openWithKey(key: Partial<NewKey>, options: Parameters<typeof open>[0] = {}) {
  const opened = await open({ spec: '', more: price(1), other: price(2), ...options });
  const keys = await manage({ type: 'sqlite', file: `${opened.gateway.folder}/.signalbox/state.db` });
  const { key: text } = await keys.create({ name: 'team', ...key });
  return {
    ...opened,
    post: (body: unknown) => opened.gateway.post(path, body, { authorization: `Bearer ${text}` }),
    usage: async () => (await keys.show('team')).usage[2],
  };
}

test.each([
  { title: 'is busy', options: {} },
  { title: 'is silent', options: { main: silent, more: `${price(1)} request_timeout: 300ms,` } },
])(
  'where the first $title, the answer is counted once, at the price of the upstream that answered [DS-UPSTREAM-05]',
  async ({ options }) => {
    const { post, usage } = await openWithKey({ budget: { total: 1 } }, options);
    expect((await post(small)).status).toBe(200);
    expect(await usage()).toMatchObject({
      ...{ calls: 1, input_tokens: 1, output_tokens: 2, cost: 0.002, estimated: 0 },
    });
  },
);

test('a budget must cover the most expensive upstream, and never covers one without a price [DS-UPSTREAM-05]', async () => {
  for (const [other, status, code] of [
    [price(1000), 429, 'insufficient_quota'],
    ['', 403, 'model_without_price'],
  ] as const) {
    const { post, main, second, warnings } = await openWithKey({ budget: { total: 1 } }, { other });
    const refused = await post(small);
    expect([refused.status, await refused.json()]).toEqual([
      status,
      { error: expect.objectContaining({ code }) },
    ]);
    expect([main.seen, second.seen]).toEqual([[], []]);
    const isWarned = warnings().some((text) => text.includes('"second" of its providers has no pricing'));
    expect(isWarned).toBe(other === '');
  }
});

test('when all upstreams fail, errors are free, and possible answers count as reserved [DS-UPSTREAM-05]', async () => {
  const busy = answerJson({ error: { message: 'busy' } }, 503);
  const free = await openWithKey({ budget: { total: 1 } }, { second: busy });
  expect((await free.post(small)).status).toBe(503);
  expect(await free.usage()).toMatchObject({ calls: 1, cost: 0, estimated: 0 });
  const late = `${price(1)} request_timeout: 300ms,`;
  const refusing = await openWithKey({ budget: { total: 1 } }, { main: silent, more: late, second: busy });
  expect((await refusing.post(small)).status).toBe(503);
  expect(await refusing.usage()).toMatchObject({ calls: 1, estimated: 1 });
  const gone = await openWithKey({ budget: { total: 1 } }, { main: silent, more: late });
  await gone.second[Symbol.asyncDispose]();
  expect((await gone.post(small)).status).toBe(502);
  expect(await gone.usage()).toMatchObject({ calls: 1, estimated: 1 });
});

test('an audit row names the upstreams that were tried and the one that answered [DS-UPSTREAM-06]', async () => {
  const rows = [];
  for (const { hooks, second, main } of [
    { hooks: '' },
    { hooks: '', main: answerChat('from the first') },
    { hooks: '', second: silent },
    { hooks: noting('before_call, second') },
    { hooks: noting('before_call, main') },
  ]) {
    const opened = await open({
      ...{ spec: `gateway: {audit: {}}\n${hooks}`, other: 'request_timeout: 300ms,' },
      ...(main && { main }),
      ...(second && { second }),
    });
    await (await opened.gateway.post(path, ask)).text();
    await opened.gateway.runtime.close();
    const database = new DatabaseSync(join(opened.gateway.folder, '.signalbox/audit.db'), { readOnly: true });
    onTestFinished(() => database.close());
    const kept = database.prepare('SELECT body FROM rows ORDER BY seq').all();
    rows.push(...kept.map(({ body }) => JSON.parse(String(body))).filter(({ kind }) => kind === 'call'));
  }
  expect(rows.map(({ model, asked, provider, outcome }) => ({ model, asked, provider, outcome }))).toEqual([
    { model: 'm', asked: ['main', 'second'], provider: 'second', outcome: 'allowed' },
    { model: 'm', asked: ['main'], provider: 'main', outcome: 'allowed' },
    { model: 'm', asked: ['main', 'second'], provider: null, outcome: 'failed' },
    { model: 'm', asked: ['main'], provider: null, outcome: 'denied' },
    { model: 'm', asked: [], provider: null, outcome: 'denied' },
  ]);
});

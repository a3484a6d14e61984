import { expect, test } from 'vitest';
import { compileDataSchema } from '../../src/base/yaml/data-schema.ts';
import { declarations } from '../../src/console/api/openapi.ts';
import type { Endpoint } from '../../src/console/api/schema.ts';
import { fixture } from '../workspace.ts';
import { keysOf, type Reply, serve } from './serving.ts';

const spec = `tools:
  refund: {approval: required, exec: {command: ${fixture('echo-args')}}}
  wire: {approval: {by: [mara, joe], quorum: 2}, exec: {command: ${fixture('echo-args')}}}
`;

interface Shown {
  readonly id: string;
  readonly run_id: string;
  readonly digest: string;
  readonly status: string;
  readonly by: string | null;
}

/** A console with calls that wait, in the order of their numbers, and the keys of mara and joe. */
async function desk(count: number, tool = 'refund') {
  const first = await serve(spec);
  const keys = await keysOf(first.folder);
  const [mara, joe] = [
    await keys.create({ name: 'mara', role: 'approver', tools: ['*'] }),
    await keys.create({ name: 'joe', role: 'approver' }),
  ];
  const viewer = await keys.create({ name: 'vera', role: 'viewer' });
  for (let n = 1; n <= count; n += 1) await first.runtime.tools.call(tool, { n });
  const { pending } = (await first.ask('GET /pendings?limit=1000', { key: mara.key })).body as {
    pending: readonly Shown[];
  };
  return { ...first, keys, mara, joe, viewer, pending };
}

test('a decision has the name of its key, and the call goes on with the exact arguments', async () => {
  const {
    ask,
    mara,
    pending: [call],
    runtime,
  } = await desk(1);
  if (call === undefined) throw new Error('no call waits');
  const text = `{"decision": "approve", "digest": "${call.digest}", "reason": "ok", "args": {"n": 12345678901234567890.10}}`;
  const decided = await ask(`POST /pendings/${call.id}/decision`, { key: mara.key, text });
  expect(decided).toMatchObject({
    status: 200,
    body: { id: call.id, status: 'approved', by: 'mara', decision_reason: 'ok', use: 'not_used' },
  });
  expect(decided.text).toContain('"edited_args":{"n": 12345678901234567890.10}');
  expect(await runtime.pending.show(call.id)).toMatchObject({ by: 'mara', status: 'approved' });
});

test('a viewer decides nothing', async () => {
  const {
    ask,
    viewer,
    pending: [call],
    runtime,
  } = await desk(1);
  const body = { decision: 'reject', digest: call?.digest, reason: 'no' };
  for (const [route, given] of [
    [`POST /pendings/${call?.id}/decision`, body],
    ['POST /pendings/decisions', { decisions: [{ id: call?.id, ...body }] }],
  ] as const)
    expect(await ask(route, { key: viewer.key, body: given })).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope' } },
    });
  expect(await runtime.pending.counts()).toMatchObject({ by_status: { open: 1 } });
});

test('who decides second reads who was first', async () => {
  const {
    ask,
    mara,
    joe,
    pending: [call],
  } = await desk(1);
  const decide = async (key: string, body: object) =>
    await ask(`POST /pendings/${call?.id}/decision`, { key, body: { digest: call?.digest, ...body } });
  const [one, other] = await Promise.all([
    decide(mara.key, { decision: 'approve' }),
    decide(joe.key, { decision: 'reject', reason: 'too late' }),
  ]);
  const [won, lost] = one.status === 200 ? [one, other] : [other, one];
  const { by, status } = won.body as Shown;
  expect([won.status, lost.status]).toEqual([200, 409]);
  expect(lost.body).toMatchObject({
    error: { code: 'PENDING_DECIDED', message: expect.stringContaining(by ?? '') },
    pending: { id: call?.id, by, status },
  });
});

test('a call that has changed since it was shown is not decided', async () => {
  const {
    ask,
    mara,
    joe,
    pending: [call],
    runtime,
  } = await desk(1, 'wire');
  await runtime.pending.approve(call?.id ?? '', { by: 'mara' });
  const body = { decision: 'approve', digest: call?.digest };
  expect(await ask(`POST /pendings/${call?.id}/decision`, { key: joe.key, body })).toMatchObject({
    status: 409,
    body: {
      error: { code: 'PENDING_CHANGED' },
      pending: {
        status: 'open',
        approvals: [{ by: 'mara' }],
        digest: expect.not.stringMatching(`^${call?.digest}$`),
      },
    },
  });
  expect(mara.name).toBe('mara');
});

test('nobody decides a call of its own', async () => {
  const { ask, mara, joe, runtime } = await desk(0);
  await runtime.tools.call('refund', { n: 1 }, { identity: { principal: mara.id } });
  const {
    pending: [call],
  } = await runtime.pending.page();
  const body = { decision: 'approve', digest: call?.digest };
  const route = `POST /pendings/${call?.id}/decision`;
  expect(await ask(route, { key: mara.key, body })).toMatchObject({
    status: 403,
    body: { error: { code: 'OWN_CALL' } },
  });
  expect(await ask(route, { key: joe.key, body })).toMatchObject({ status: 200 });
});

test('each of 200 decisions is made or refused on its own', async () => {
  const { ask, mara, pending, runtime } = await desk(200);
  const [first, , third] = pending;
  await runtime.pending.reject(third?.id ?? '', { by: 'joe', reason: 'no' });
  const decisions = pending.map(({ id, digest }) => ({ id, digest, decision: 'approve' }));
  const mine = [...decisions, { ...decisions[0], id: 'pending_none' }];
  const { status, body } = await ask('POST /pendings/decisions', {
    key: mara.key,
    body: { decisions: mine },
  });
  const { results } = body as { results: readonly { status: number }[] };
  expect([status, results.length]).toEqual([200, 201]);
  expect(results.map((result) => result.status)).toEqual(
    mine.map((_decision, at) => (at === 2 ? 409 : at === 200 ? 404 : 200)),
  );
  expect([results[0], results[2], results[200]]).toMatchObject([
    { id: first?.id, status: 200, pending: { status: 'approved', by: 'mara' } },
    {
      id: third?.id,
      status: 409,
      error: { code: 'PENDING_DECIDED' },
      pending: { status: 'rejected', by: 'joe' },
    },
    { id: 'pending_none', status: 404, error: { code: 'RUN_UNKNOWN' } },
  ]);
  expect(await runtime.pending.counts()).toMatchObject({
    by_status: { open: 0, approved: 199, rejected: 1 },
  });
});

test('the answer to many decisions stays short, however long the calls are', async () => {
  const { ask, runtime } = await serve('tools: {refund: {approval: required, exec: {command: cat}}}');
  await runtime.tools.call('refund', { text: 'x'.repeat(100_000) });
  const [{ id = '', digest = '' } = {}] = (await runtime.pending.page()).pending;
  const decisions = [1, 2].map(() => ({ id, digest, decision: 'reject', reason: 'no' }));
  const { text, body } = await ask('POST /pendings/decisions', { body: { decisions } });
  expect(body).toMatchObject({
    results: [200, 409].map((status) => ({ status, pending: { args_cut: true } })),
  });
  expect(text.length).toBeLessThan(10_000);
  const one = await ask('POST /pendings/decisions', { body: { decisions: decisions.slice(1) } });
  expect(one.text.length).toBeGreaterThan(100_000);
});

test('lists have filters, pages and short texts; a call is shown whole', async () => {
  const { ask, mara, runtime } = await desk(3);
  const long = 'x'.repeat(5_000);
  await runtime.tools.call('wire', { long });
  const get = async (path: string) => (await ask(`GET ${path}`, { key: mara.key })).body;
  const { pending: page, next } = (await get('/pendings?limit=2')) as { pending: Shown[]; next: string };
  expect(page.length).toBe(2);
  const rest = (await get(`/pendings?limit=2&after=${encodeURIComponent(next)}`)) as { pending: Shown[] };
  expect(rest).toMatchObject({ pending: [{ tool: 'refund' }, { tool: 'wire', args_cut: true }] });
  expect(rest).not.toHaveProperty('next');
  expect(await get(`/pendings/${rest.pending[1]?.id}`)).toMatchObject({ args: { long } });
  expect(await get('/pendings?tool=wire&mine=true')).toMatchObject({ pending: [{ tool: 'wire' }] });
  expect(await get(`/pendings?since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual({
    pending: [],
  });
  expect(await get('/pendings/counts?tool=refund')).toMatchObject({ total: 3, by_tool: { refund: 3 } });
});

/** A request to each endpoint, of a desk with one call. */
const samples: Readonly<Record<string, (call: Shown) => { readonly path?: string; readonly body?: object }>> =
  {
    'GET /me': () => ({}),
    'GET /openapi.json': () => ({}),
    'GET /pendings': () => ({ path: '?status=all' }),
    'GET /pendings/counts': () => ({}),
    'GET /pendings/{id}': () => ({}),
    'GET /pendings/{id}/conversation': () => ({}),
    'GET /runs': () => ({ path: '?status=pending&limit=5' }),
    'GET /runs/{id}': () => ({}),
    'GET /runs/{id}/document': () => ({}),
    'GET /runs/{id}/details': () => ({ path: '?max_characters=100' }),
    'GET /runs/{id}/steps': () => ({}),
    'GET /evals/runs': () => ({}),
    'GET /evals/history': () => ({ path: '?suite=none' }),
    'GET /decisions': () => ({ path: '?hook=none' }),
    'GET /decisions/counts': () => ({}),
    'GET /audit': () => ({}),
    'POST /pendings/{id}/check': () => ({ body: { args: { n: 2 } } }),
    'POST /pendings/decisions': ({ id }) => ({
      body: { decisions: [{ id, digest: 'other', decision: 'reject', reason: 'no' }] },
    }),
    'POST /pendings/{id}/decision': ({ digest }) => ({
      body: { digest, decision: 'respond', result: { paid: 1 } },
    }),
  };

/** Other tests have these, which need runs of other kinds. */
const elsewhere = [
  ...['cancel', 'resume', 'retry'].map((what) => `POST /runs/{id}/${what}`),
  ...['GET /evals/runs/{id}/case', 'GET /evals/compare'],
  ...['POST', 'DELETE'].map((method) => `${method} /evals/runs/{id}/ratings`),
];

test('what endpoints answer is what they declare', async () => {
  const {
    ask,
    mara,
    pending: [call],
  } = await desk(1);
  if (call === undefined) throw new Error('no call waits');
  const endpoints = declarations.flatMap((group) => Object.entries<Endpoint>(group));
  const documents = endpoints.filter(([, { response }]) => !('stream' in response)).map(([key]) => key);
  expect(documents.filter((key) => !(key in samples))).toEqual(elsewhere);
  for (const key of Object.keys(samples)) {
    const { path = '', body } = samples[key]?.(call) ?? {};
    const route = `${key.replace('{id}', key.includes('/runs') ? call.run_id : call.id)}${path}`;
    const reply: Reply = await ask(route, { key: mara.key, ...(body && { body }) });
    const [, declared] = endpoints.find(([each]) => each === key) ?? [];
    const validate = compileDataSchema({ ...declared?.response }, { hasFormats: true });
    expect([key, reply.status, validate(reply.body), validate.errors ?? []]).toEqual([key, 200, true, []]);
  }
});

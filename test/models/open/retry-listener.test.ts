import { expect, test } from 'vitest';
import { canary } from '../../canary.ts';
import { apiOf, apis, play } from '../apis.ts';
import { ask, faultOf, openModel, outline, streamOf, textOf } from '../bench.ts';
import type { Turn } from '../wire/fake.ts';

const passing: readonly { readonly title: string; readonly turn: Turn }[] = [
  ...[408, 409, 429, 500, 502, 503, 529].map((status) => ({
    title: `status ${status}`,
    turn: { fault: { kind: 'status', status } as const },
  })),
  { title: 'a connection that is cut', turn: { fault: { kind: 'hang-up' } } },
  { title: 'an answer that is cut', turn: { text: 'Hello', fault: { kind: 'cut', after: 0 } } },
];

test.each(passing)('after $title the request is retried, streamed or not', async ({ turn }) => {
  for (const api of apis) {
    const generated = await play(api, [turn, { text: 'well' }]);
    const streamed = await play(api, [turn, { text: 'well' }]);
    const parts = await streamOf(streamed.model, ask('hi'));
    expect(await textOf(generated.model, ask('hi'))).toBe('well');
    expect(outline(parts).filter((part) => part.startsWith('text-delta w'))).toStrictEqual([
      'text-delta well',
    ]);
    expect([generated, streamed].map(({ fake }) => fake.requests.length)).toStrictEqual([2, 2]);
  }
});

/** Events of each API's stream before any content. */
const preambles: readonly (readonly [title: string, after: number])[] = [
  ['openai', 1],
  ['openai (Responses)', 3],
  ['claude', 3],
  ['openai-compatible', 1],
];

const breaks = preambles.flatMap(([title, after]) => [
  { title, after, kind: 'cut' as const },
  { title, after, kind: 'end' as const },
]);

test.each(breaks)(
  'a stream of $title that breaks off ($kind) before its first word is retried',
  async (row) => {
    const { title, after, kind } = row;
    const { model, fake } = await play(apiOf(title), [{ text: 'a', fault: { kind, after } }, { text: 'b' }]);
    const words = outline(await streamOf(model, ask('hi'))).filter((part) => /^text-delta ./.test(part));
    expect(words).toStrictEqual(['text-delta b']);
    expect(fake.requests).toHaveLength(2);
  },
);

test('a stream that starts with an overload error is retried', async () => {
  for (const title of ['openai', 'openai (Responses)', 'claude', 'gemini']) {
    const { model } = await play(apiOf(title), [
      { text: 'a', fault: { kind: 'event', after: 0 } },
      { text: 'b' },
    ]);
    expect(outline(await streamOf(model, ask('hi')))).toContain('text-delta b');
  }
});

test('a stream after a retry has one beginning', async () => {
  const { model } = await play(apiOf('claude'), [
    { text: 'a', fault: { kind: 'cut', after: 1 } },
    { text: 'b' },
  ]);
  const starts = outline(await streamOf(model, ask('hi'))).filter((part) => part === 'stream-start');
  expect(starts).toHaveLength(1);
});

test.each(apis)('$title gets three requests, and then no more', async (api) => {
  const { model, fake } = await play(api, [{ fault: { kind: 'status', status: 500, message: 'down' } }]);
  const faults = [await faultOf(model.doGenerate(ask('hi'))), await faultOf(model.doStream(ask('hi')))];
  expect(faults.map(({ message }) => message)).toStrictEqual([
    'provider "main" failed with status 500: down',
    'provider "main" failed with status 500: down',
  ]);
  expect(fake.requests).toHaveLength(6);
});

test.each([400, 401, 403, 404, 413, 422])('status %d is an answer, and not retried', async (status) => {
  const { model, fake } = await play(apiOf('openai'), [{ fault: { kind: 'status', status } }]);
  expect((await faultOf(model.doGenerate(ask('hi')))).details).toStrictEqual({ status, retryable: false });
  expect(fake.requests).toHaveLength(1);
});

test('max_retries is the number of further attempts', async () => {
  const fault = { kind: 'status', status: 503 } as const;
  const never = await play(apiOf('openai'), [{ fault }], { additionalConfig: { max_retries: 0 } });
  const often = await play(apiOf('openai'), [{ fault }], { additionalConfig: { max_retries: 4 } });
  await faultOf(never.model.doGenerate(ask('hi')));
  await faultOf(often.model.doGenerate(ask('hi')));
  expect([never.fake.requests.length, often.fake.requests.length]).toStrictEqual([1, 5]);
});

const asked = [
  { title: 'milliseconds', headers: { 'retry-after-ms': '400' }, leastMs: 395 },
  { title: 'seconds', headers: { 'retry-after': '1' }, leastMs: 990 },
  {
    title: 'milliseconds before seconds',
    headers: { 'retry-after': '50', 'retry-after-ms': '5' },
    leastMs: 4,
  },
];

test.each(asked)('a wait that the API requests in $title is respected', async ({ headers, leastMs }) => {
  const fault = { kind: 'status', status: 429, headers } as const;
  const { model } = await play(apiOf('claude'), [{ fault }, { text: 'well' }]);
  const start = performance.now();
  expect(await textOf(model, ask('hi'))).toBe('well');
  expect(performance.now() - start).toBeGreaterThanOrEqual(leastMs);
});

test('a wait until a past date is none', async () => {
  const headers = { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' };
  const { model } = await play(apiOf('claude'), [
    { fault: { kind: 'status', status: 503, headers } },
    { text: 'well' },
  ]);
  expect(await textOf(model, ask('hi'))).toBe('well');
});

test('a wait that ends after the deadline is not started', async () => {
  const fault = { kind: 'status', status: 429, headers: { 'retry-after': '50' } } as const;
  const { model, fake } = await play(apiOf('claude'), [{ fault }], { requestTimeoutMs: 40_000 });
  expect((await faultOf(model.doGenerate(ask('hi')))).details).toStrictEqual({
    status: 429,
    retryable: true,
    retry_after_ms: 50_000,
  });
  expect(fake.requests).toHaveLength(1);
});

test('a wait of more than a minute is not started, however much time there is', async () => {
  const fault = { kind: 'status', status: 503, headers: { 'retry-after': '61' } } as const;
  const { model, fake } = await play(apiOf('claude'), [{ fault }], { requestTimeoutMs: 3_600_000 });
  expect((await faultOf(model.doGenerate(ask('hi')))).details).toMatchObject({ retry_after_ms: 61_000 });
  expect(fake.requests).toHaveLength(1);
});

test('a call can be aborted during the wait for a retry', async () => {
  const fault = { kind: 'status', status: 429, headers: { 'retry-after': '50' } } as const;
  const { model, fake } = await play(apiOf('claude'), [{ fault }]);
  const caller = new AbortController();
  const call = faultOf(model.doGenerate(ask('hi', { abortSignal: caller.signal })));
  await expect.poll(() => fake.requests.length).toBe(1);
  caller.abort();
  expect([(await call).code, fake.requests.length]).toStrictEqual(['ABORTED', 1]);
});

test('the deadline covers the call with all its attempts', async () => {
  const fault = { kind: 'status', status: 503 } as const;
  const { model, fake } = await play(apiOf('claude'), [{ fault }, { fault: { kind: 'hang' } }], {
    requestTimeoutMs: 400,
  });
  expect((await faultOf(model.doGenerate(ask('hi')))).code).toBe('PROVIDER_TIMEOUT');
  expect(fake.requests).toHaveLength(2);
});

test('the signal of the runtime ends every call', async () => {
  const { fake } = await play(apiOf('claude'), [{ fault: { kind: 'hang' } }]);
  const runtime = new AbortController();
  const fields = { type: 'claude', baseUrl: fake.url, credential: { apiKey: canary } };
  const model = await openModel(fields, { signal: runtime.signal });
  const calls = [
    faultOf(model.doGenerate(ask('hi'))),
    faultOf(model.doGenerate(ask('hi', { abortSignal: new AbortController().signal }))),
  ];
  await expect.poll(() => fake.requests.length).toBe(2);
  runtime.abort();
  expect((await Promise.all(calls)).map(({ code }) => code)).toStrictEqual(['ABORTED', 'ABORTED']);
});

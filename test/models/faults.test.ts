import { describe, expect, test } from 'vitest';
import { canary } from '../canary.ts';
import { type Api, apiOf, apis, play } from './apis.ts';
import { ask, errorOf, faultOf, outline, streamOf, textOf } from './bench.ts';
import type { Turn } from './wire/fake.ts';

const once = { additionalConfig: { max_retries: 0 } };

/** Faults before any part of the answer, and the same error for streamed and unstreamed calls. */
const before: readonly { readonly title: string; readonly turn: Turn; readonly fault: object }[] = [
  {
    title: 'a refused key',
    turn: { fault: { kind: 'status', status: 401, message: `no such key: ${canary}` } },
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed with status 401: no such key: [redacted]',
      details: { status: 401, retryable: false },
    },
  },
  {
    title: 'an error of the server',
    turn: { fault: { kind: 'status', status: 500, message: 'out of order' } },
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed with status 500: out of order',
      details: { status: 500, retryable: true },
    },
  },
  {
    title: 'an error in no form at all',
    turn: { fault: { kind: 'body', status: 502, body: '<h1>Bad\n\n gateway</h1>' } },
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed with status 502: Bad Gateway: <h1>Bad gateway</h1>',
      details: { status: 502, retryable: true },
    },
  },
  {
    title: 'a longer wait than anybody has',
    turn: {
      fault: { kind: 'status', status: 429, message: 'slow down', headers: { 'retry-after': '3600' } },
    },
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed with status 429: slow down',
      details: { status: 429, retryable: true, retry_after_ms: 3_600_000 },
    },
  },
  {
    title: 'a connection that is cut before a byte',
    turn: { fault: { kind: 'hang-up' } },
    fault: {
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed: the connection failed: other side closed (UND_ERR_SOCKET)',
      details: { retryable: true },
    },
  },
];

describe.each(apis)('$title', (api) => {
  test.each(before)('$title is reported, streamed or not', async ({ turn, fault }) => {
    const { model } = await play(api, [turn], once);
    const faults = [await faultOf(model.doGenerate(ask('hi'))), await faultOf(model.doStream(ask('hi')))];
    expect(faults).toStrictEqual([fault, fault]);
  });

  test('a silent API ends with a timeout, and its connection is closed', async () => {
    const { model, fake } = await play(api, [{ fault: { kind: 'hang' } }], { requestTimeoutMs: 1_000 });
    const fault = {
      code: 'PROVIDER_TIMEOUT',
      message: 'provider "main" did not answer within 1000 ms',
      details: { timeout_ms: 1_000 },
    };
    const faults = [await faultOf(model.doGenerate(ask('hi'))), await faultOf(model.doStream(ask('hi')))];
    expect(faults).toStrictEqual([fault, fault]);
    await expect.poll(() => fake.dropped).toBe(2);
  });

  test('an aborted call ends as such, streamed or not', async () => {
    const { model } = await play(api, [{ fault: { kind: 'hang' } }]);
    const signal = AbortSignal.timeout(30);
    const [generated, streamed] = await Promise.all([
      faultOf(model.doGenerate(ask('hi', { abortSignal: signal }))),
      faultOf(model.doStream(ask('hi', { abortSignal: signal }))),
    ]);
    const fault = { code: 'ABORTED', message: 'the call of "main" was aborted' };
    expect([generated, streamed]).toStrictEqual([fault, fault]);
  });

  test('an already aborted call sends nothing', async () => {
    const { model, fake } = await play(api, [{ text: 'ok' }]);
    const abortSignal = AbortSignal.abort();
    const faults = [
      await faultOf(model.doGenerate(ask('hi', { abortSignal }))),
      await faultOf(model.doStream(ask('hi', { abortSignal }))),
    ];
    expect(faults.map(({ code }) => code)).toStrictEqual(['ABORTED', 'ABORTED']);
    expect(fake.requests).toStrictEqual([]);
  });

  test('an answer that is not JSON is reported with its first words', async () => {
    const { model } = await play(api, [{ fault: { kind: 'body', status: 200, body: 'Hello' } }], once);
    expect(await faultOf(model.doGenerate(ask('hi')))).toStrictEqual({
      code: 'PROVIDER_FAILED',
      message: 'provider "main" failed with status 200: Invalid JSON response: Hello',
      details: { status: 200, retryable: false },
    });
  });

  test('an answer that is truncated fails', async () => {
    const { model } = await play(api, [{ text: 'Hello', fault: { kind: 'cut' } }], once);
    expect((await faultOf(model.doGenerate(ask('hi')))).code).toBe('PROVIDER_FAILED');
  });

  test('an answer that stalls ends as a timeout', async () => {
    const { model } = await play(api, [{ text: 'Hello', fault: { kind: 'stall' } }], {
      requestTimeoutMs: 300,
    });
    expect((await faultOf(model.doGenerate(ask('hi')))).code).toBe('PROVIDER_TIMEOUT');
  });

  const middle: readonly { readonly title: string; readonly kind: 'cut' | 'end' | 'garble' | 'event' }[] = [
    { title: 'whose connection is cut', kind: 'cut' },
    { title: 'that ends without a finish reason', kind: 'end' },
    { title: 'with an event that is no JSON', kind: 'garble' },
    { title: 'in which the API reports an error', kind: 'event' },
  ];

  test.each(middle)('a stream $title fails midway', async ({ kind }) => {
    const turn: Turn = { text: ['One ', 'two ', 'three ', 'four'], fault: { kind } };
    const { model, fake } = await play(api, [turn]);
    const parts = await streamOf(model, ask('hi'));
    expect(outline(parts)).toContain('text-delta One ');
    expect(outline(parts)).not.toContain('text-delta four');
    expect(errorOf(parts).code).toBe('PROVIDER_FAILED');
    // A partly delivered answer is not retried.
    expect(fake.requests).toHaveLength(1);
  });

  test('a stream that stalls ends as a timeout', async () => {
    const turn: Turn = { text: ['One ', 'two ', 'three ', 'four'], fault: { kind: 'stall' } };
    const { model, fake } = await play(api, [turn], { requestTimeoutMs: 1_000 });
    const parts = await streamOf(model, ask('hi'));
    expect(outline(parts)).toContain('text-delta One ');
    expect(errorOf(parts).code).toBe('PROVIDER_TIMEOUT');
    await expect.poll(() => fake.dropped).toBe(1);
  });

  test('a stream that its caller aborts midway says so', async () => {
    const turn: Turn = { text: ['One ', 'two ', 'three ', 'four'], fault: { kind: 'stall' } };
    const { model } = await play(api, [turn]);
    const caller = new AbortController();
    const { stream } = await model.doStream(ask('hi', { abortSignal: caller.signal }));
    const parts = [];
    for await (const part of stream) {
      parts.push(part);
      if (part.type === 'text-delta') caller.abort();
    }
    expect(errorOf(parts)).toStrictEqual({ code: 'ABORTED', message: 'the call of "main" was aborted' });
  });

  test('a stream that is no longer read closes its connection', async () => {
    const turn: Turn = { text: ['One ', 'two ', 'three ', 'four'], fault: { kind: 'stall' } };
    const { model, fake } = await play(api, [turn]);
    const { stream } = await model.doStream(ask('hi'));
    const reader = stream.getReader();
    expect((await reader.read()).done).toBe(false);
    await reader.cancel();
    await expect.poll(() => fake.dropped).toBe(1);
  });
});

/** The number of events in each API's stream that end the last tool call but not the answer. */
const almostAll: Readonly<Record<Api['wire'], number>> = { openai: 4, responses: 6, anthropic: 7, gemini: 1 };

test.each(apis)('a stream of $title that breaks off never gives a tool call', async (api) => {
  const toolCalls = [
    { name: 'refund', args: { order: 1 } },
    { name: 'notify', args: { order: 1 } },
  ];
  for (const kind of ['cut', 'end', 'garble', 'event'] as const) {
    const { model } = await play(api, [{ toolCalls, fault: { kind, after: almostAll[api.wire] } }]);
    const parts = await streamOf(model, ask('hi'));
    expect(outline(parts)).toContain('tool-input-start');
    expect(outline(parts)).not.toContain('tool-call');
    expect(errorOf(parts).code).toBe('PROVIDER_FAILED');
  }
});

test('a key that an API repeats in other forms is hidden as well', async () => {
  const fault = {
    kind: 'body',
    status: 403,
    body: `{"oops":"${canary} and secret-of-the-team"}`,
  } as const;
  const { model } = await play(apiOf('claude'), [{ fault }], {
    headers: { 'x-team-token': 'secret-of-the-team' },
  });
  expect((await faultOf(model.doGenerate(ask('hi')))).message).toBe(
    'provider "main" failed with status 403: Forbidden: {"oops":"[redacted] and [redacted]"}',
  );
});

test('an error keeps nothing of the request, and 500 characters of the API’s message', async () => {
  const fault = { kind: 'status', status: 400, message: 'x'.repeat(5_000) } as const;
  const { model } = await play(apiOf('openai'), [{ fault }]);
  const thrown: unknown = await model.doGenerate(ask('a prompt')).then(undefined, (error: unknown) => error);
  expect(thrown instanceof Error && 'cause' in thrown).toBe(false);
  expect(String(thrown)).toHaveLength('RuntimeError: provider "main" failed with status 400: '.length + 500);
});

test('an address that redirects is not followed with the key', async () => {
  const other = await play(apiOf('openai'), [{ text: 'stolen' }]);
  const headers = { location: `${other.fake.url}/messages` };
  const { model } = await play(apiOf('claude'), [
    { fault: { kind: 'body', status: 307, body: '', headers } },
  ]);
  expect((await faultOf(model.doGenerate(ask('hi')))).details).toStrictEqual({
    status: 307,
    retryable: false,
  });
  expect(other.fake.requests).toStrictEqual([]);
});

test('an answer that the API itself reports as a failure is one', async () => {
  const body = JSON.stringify({
    candidates: [
      { content: { parts: [], role: 'model' }, finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 },
    ],
  });
  const { model } = await play(apiOf('gemini'), [{ fault: { kind: 'body', status: 200, body } }]);
  expect(await faultOf(model.doGenerate(ask('hi')))).toStrictEqual({
    code: 'PROVIDER_FAILED',
    message: 'provider "main" failed: the answer ended with the finish reason MALFORMED_FUNCTION_CALL',
    details: { retryable: false },
  });
});

test('an unreachable server is reported by its error', async () => {
  const { model, fake } = await play(apiOf('claude'), [{ text: 'ok' }], once);
  await fake.close();
  const fault = await faultOf(textOf(model, ask('hi')));
  expect(fault).toStrictEqual({
    code: 'PROVIDER_FAILED',
    message: expect.stringContaining('ECONNREFUSED'),
    details: { retryable: true },
  });
});

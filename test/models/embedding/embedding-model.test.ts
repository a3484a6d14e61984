import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProviderConfig } from '../../../src/config/config.ts';
import { readEmbedded, toEmbeddingCall } from '../../../src/models/embedding.ts';
import { startUpstream } from '../../gateway/upstream-server.ts';
import { ask, faultOf, openModel } from '../bench.ts';
import { type EmbeddingApi, type EmbeddingsBody, refuse, startEmbeddingApi } from './embedding-api.ts';

let api: EmbeddingApi;
beforeAll(async () => {
  api = await startEmbeddingApi({ north: [0, 1], east: [1, 0] });
});
afterAll(async () => await api[Symbol.asyncDispose]());
beforeEach(() => {
  api.asked.length = 0;
  api.next = [];
});

function openEmbedding(fields: Partial<ProviderConfig> = {}) {
  const entry: Partial<ProviderConfig> = {
    ...{ id: 'embed', type: 'openai-compatible', model: 'm', baseUrl: `${api.url}/v1` },
    ...{ credential: { apiKey: 'sk-embedding-1234' }, additionalConfig: { retry_base_ms: 1 } },
    ...fields,
    role: 'embedding',
  };
  return openModel(entry, { role: 'embedding' });
}

async function embed(texts: readonly string[], fields: Partial<ProviderConfig> = {}, signal?: AbortSignal) {
  const model = await openEmbedding(fields);
  const result = await model.doGenerate(toEmbeddingCall(texts, signal));
  return readEmbedded(result, { count: texts.length, provider: 'embed' });
}

describe('an API that embeds', () => {
  test.each(['openai-compatible', 'openai', 'vllm', 'ollama'])(
    'receives all texts in one request by %s, with the key [DS-EMBED-01]',
    async (type) => {
      const embedded = await embed(['north', 'east'], { type, additionalConfig: { dimensions: 2 } });
      expect(embedded).toMatchObject({
        vectors: [
          [0, 1],
          [1, 0],
        ],
        tokens: 200,
      });
      const { url, headers, body } = api.seen.at(-1) ?? {};
      expect({ url, key: headers?.authorization, body: JSON.parse(body ?? '') }).toEqual({
        ...{ url: '/v1/embeddings', key: 'Bearer sk-embedding-1234' },
        body: { model: 'm', input: ['north', 'east'], encoding_format: 'float', dimensions: 2 },
      });
    },
  );

  test('may be Gemini, whose usage is unknown', async () => {
    await using gemini = await startUpstream((request, response) => {
      const isOne = request.url.includes(':embedContent');
      const values = { values: [3, 4] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isOne ? { embedding: values } : { embeddings: [values, values] }));
    });
    const fields = { type: 'google', baseUrl: `${gemini.url}/v1beta` };
    expect(await embed(['a'], fields)).toMatchObject({ vectors: [[3, 4]], tokens: undefined });
    expect((await embed(['a', 'b'], fields)).vectors).toHaveLength(2);
    expect(gemini.seen.map(({ url }) => url)).toEqual([
      '/v1beta/models/m:embedContent',
      '/v1beta/models/m:batchEmbedContents',
    ]);
  });

  test('gives vectors in any order, matched by their index [DS-EMBED-02]', async () => {
    api.next = [(body) => ({ ...body, data: body.data.toReversed() })];
    expect((await embed(['north', 'east', 'abc'])).vectors).toEqual([
      [0, 1],
      [1, 0],
      [3, 1],
    ]);
  });

  const change = (embedding: unknown) => (body: EmbeddingsBody) => ({
    ...body,
    data: body.data.map((each) => ({ ...each, embedding: each.index === 1 ? embedding : each.embedding })),
  });

  test.each([
    ['one too few', (body: EmbeddingsBody) => ({ ...body, data: body.data.slice(1) })],
    ['one too many', (body: EmbeddingsBody) => ({ ...body, data: [...body.data, ...body.data] })],
    ['none', (body: EmbeddingsBody) => ({ ...body, data: [] })],
    [
      'two of one text',
      (body: EmbeddingsBody) => ({ ...body, data: body.data.map((each) => ({ ...each, index: 0 })) }),
    ],
    [
      'an index beyond',
      (body: EmbeddingsBody) => ({ ...body, data: body.data.map((each) => ({ ...each, index: 7 })) }),
    ],
    ['base64', change('AACAPwAAAAA=')],
    ['null for a number', change([null, 1])],
    ['nothing in one', change([])],
    ['another length', change([1, 2, 3])],
    ['no JSON of its form', () => ({ data: 'none' })],
  ])('that answers with %s has failed, without a retry [DS-EMBED-03]', async (_what, next) => {
    api.next = [next];
    const fault = await faultOf(embed(['north', 'east']));
    expect(fault).toMatchObject({ code: 'PROVIDER_FAILED', details: { retryable: false } });
    expect(api.asked).toHaveLength(1);
  });

  test('is retried after a temporary failure, within its deadline [DS-EMBED-04]', async () => {
    api.next = [() => refuse(503), () => refuse(429, { 'retry-after-ms': '1' })];
    expect((await embed(['north'])).vectors).toEqual([[0, 1]]);
    expect(api.asked).toHaveLength(3);
    api.next = [() => refuse(401)];
    expect(await faultOf(embed(['north']))).toMatchObject({
      code: 'PROVIDER_FAILED',
      details: { status: 401 },
    });
    expect(api.asked).toHaveLength(4);
  });

  test('does not show its key in an error', async () => {
    await using echo = await startUpstream(({ headers }, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `bad key ${headers.authorization}` } }));
    });
    const fault = await faultOf(embed(['north'], { baseUrl: `${echo.url}/v1` }));
    expect(fault.code).toBe('PROVIDER_FAILED');
    expect(JSON.stringify(fault)).not.toContain('sk-embedding-1234');
  });
});

describe('calls for one text each', () => {
  const askEach = async (texts: readonly string[], signals: readonly AbortSignal[] = []) => {
    const model = await openEmbedding();
    return await Promise.allSettled(
      texts.map((text, index) => model.doGenerate(toEmbeddingCall([text], signals[index]))),
    );
  };

  test('are one request, and its tokens are divided among them [DS-EMBED-05]', async () => {
    const given = await askEach(['north', 'east', 'x'.repeat(91)]);
    const tokens = given.map((each) =>
      each.status === 'fulfilled' ? each.value.usage.inputTokens.total : 0,
    );
    expect({ asked: api.asked.length, tokens }).toEqual({ asked: 1, tokens: [15, 12, 273] });
  });

  test('are as many requests as their texts need', async () => {
    const given = await askEach(Array.from({ length: 130 }, (_, at) => `text ${at}`));
    expect(given.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(api.asked.map((texts) => texts.length)).toEqual([64, 64, 2]);
    await askEach(['x'.repeat(150_000), 'y'.repeat(150_000)]);
    expect(api.asked.slice(3).map((texts) => texts.length)).toEqual([1, 1]);
  });

  test('do not fail because another text is refused [DS-EMBED-05]', async () => {
    const refuseBad = (_body: EmbeddingsBody, texts: readonly string[]) =>
      texts.includes('bad') ? refuse(400) : undefined;
    api.next = Array.from({ length: 4 }, () => refuseBad);
    const given = await askEach(['north', 'bad', 'east']);
    expect(given.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(api.asked.map((texts) => texts.length)).toEqual([3, 1, 1, 1]);
  });

  test('all fail, without single retries, if the key is refused', async () => {
    api.next = [() => refuse(401)];
    expect((await askEach(['north', 'east'])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(api.asked).toHaveLength(1);
  });

  test('are aborted one by one [DS-EMBED-05]', async () => {
    const [gone, here] = [new AbortController(), new AbortController()];
    gone.abort(new Error('no longer'));
    const given = await askEach(['north', 'east'], [gone.signal, here.signal]);
    expect(given.map((each) => (each.status === 'rejected' ? each.reason.code : 'given'))).toEqual([
      'ABORTED',
      'given',
    ]);
  });
});

test.each([
  ['a model that answers does not embed', { role: undefined }, 'embedding'],
  ['a model that embeds does not answer', { role: 'embedding' }, undefined],
  ['Anthropic has no embeddings', { type: 'claude', role: 'embedding' }, 'embedding'],
] as const)('%s [DS-EMBED-06]', async (_title, { role, ...fields }, wanted) => {
  const entry = { ...fields, ...(role && { role }), credential: { apiKey: 'k' }, additionalConfig: {} };
  const opened = openModel({ type: 'openai', ...entry }, { ...(wanted && { role: wanted }) });
  expect(await faultOf(opened)).toMatchObject({ code: 'PROVIDER_UNUSABLE' });
});

describe('a scripted model', () => {
  const embeddings = [
    { text: 'a', vector: [1, 0] },
    { text: 'bad', error: { status: 500, message: 'down' } },
  ];
  const script = (additionalConfig: Readonly<Record<string, unknown>>) =>
    ({ type: 'mock', additionalConfig }) as const;

  test('returns its scripted vectors, and constant ones for other texts', async () => {
    const [one, other] = [
      await embed(['a', 'c'], script({ embeddings })),
      await embed(['c'], script({ embeddings })),
    ];
    expect(one.vectors[0]).toEqual([1, 0]);
    expect(one.vectors[1]).toEqual(other.vectors[0]);
    expect(Math.hypot(...(other.vectors[0] ?? []))).toBeCloseTo(1, 10);
    expect((await embed(['c'], script({}))).vectors[0]).toHaveLength(8);
    expect(await faultOf(embed(['a', 'bad'], script({ embeddings })))).toMatchObject({
      code: 'PROVIDER_FAILED',
      details: { status: 500 },
    });
  });

  test.each([
    [{ embeddings: [{ text: 'a' }] }],
    [{ embeddings: [{ vector: [1], error: {} }] }],
    [{ embeddings: [{ vector: ['1'] }] }],
    [{ responses: [{ text: 'hi' }] }],
  ])('is refused with %j', async (wrong) => {
    expect(await faultOf(openEmbedding(script(wrong)))).toMatchObject({ code: 'PROVIDER_UNUSABLE' });
  });
});

test('a call without an embedding provider makes no request', async () => {
  const model = await openEmbedding();
  expect(await faultOf(model.doStream(ask('north')))).toMatchObject({ code: 'INTERNAL' });
  const mixed = { prompt: [{ role: 'system' as const, content: 'You are.' }] };
  expect(await faultOf(model.doGenerate(mixed))).toMatchObject({ code: 'REPLY_MALFORMED' });
  expect(api.asked).toHaveLength(0);
});

import { request } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openaiProvider, openTestGateway } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream, type UpstreamServer } from '../upstream-server.ts';
import { serveTestGateway, type TestServer } from './serve-gateway.ts';

const chat = '/v1/chat/completions';
const spec = (more: string) =>
  `state_store: {type: memory}\nproviders: [${openaiProvider(upstream.url)}]\n${more}`;
const ask = (content = 'hi') => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });

let upstream: UpstreamServer;
let open: TestServer;
let keyed: TestServer;
beforeAll(async () => {
  upstream = await startUpstream(answerJson(chatAnswer('hello')));
  open = await serveTestGateway(spec('gateway: {limits: {body_bytes: 100000}, forward_headers: [X-Tenant]}'));
  keyed = await serveTestGateway(spec('gateway: {keys: {required: true}}'));
});
afterAll(async () => {
  await Promise.all([upstream, open, keyed].map((each) => each[Symbol.asyncDispose]()));
});

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Sends any Host and Origin; `fetch` does not. */
async function send({ port }: TestServer, { method = 'GET', path = '/', headers = {}, body }: Asked) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    headers: object;
    text: string;
  }>();
  const sent = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, async (response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(Buffer.from(chunk));
    resolve({
      status: response.statusCode ?? 0,
      headers: response.headers,
      text: Buffer.concat(chunks).toString(),
    });
  });
  // A server may answer before it has read the body.
  sent.on('error', reject).on('upgrade', () => reject(new Error('upgraded')));
  sent.end(body);
  return await promise;
}

const anyPath = fc.oneof(
  fc.constantFrom('/', '/healthz', '/readyz', '/v1/models', '/v1/models/m', '/nowhere'),
  fc.constantFrom(chat, '/v1/responses', '/v1/messages', '/v1/messages/count_tokens', '/v1/embeddings'),
  fc.stringMatching(/^\/[a-z0-9/]{0,12}$/),
);
const anyMethod = fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH');
const foreign = fc.constantFrom(
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { host: 'evil.example' },
  { host: 'evil.example:8787' },
  { host: '127.0.0.1.evil.example' },
);

test('without keys, no route answers a browser page or another host name', async () => {
  await fc.assert(
    fc.asyncProperty(anyPath, anyMethod, foreign, async (path, method, headers) => {
      const { status, text } = await send(open, { path, method, headers });
      expect([status, method === 'HEAD' || text.includes('untrusted_origin')]).toEqual([403, true]);
    }),
    { numRuns: 120 },
  );
});

test('probes, local programs, and replicas behind proxies are answered', async () => {
  const local = await Promise.all(
    ['127.0.0.1', 'localhost:8787', '[::1]:1'].map((host) =>
      send(open, { path: '/v1/models', headers: { host } }),
    ),
  );
  expect(local.map(({ status }) => status)).toEqual([200, 200, 200]);
  const proxied = { host: 'models.example.com', origin: 'https://app.example.com' };
  const paths = ['/healthz', '/readyz', '/v1/models'];
  const answered = await Promise.all(paths.map((path) => send(keyed, { path, headers: proxied })));
  expect(answered.map(({ status }) => status)).toEqual([200, 200, 401]);
});

const codings = {
  zstd: zstdCompressSync,
  gzip: gzipSync,
  'x-gzip': gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  GZIP: gzipSync,
  identity: (body: string | Uint8Array) => Buffer.from(body),
} as const;
const anyCoding = fc.constantFrom(...Object.entries(codings));
const post = (coding: string, body: Uint8Array) =>
  send(open, { method: 'POST', path: chat, headers: { 'content-encoding': coding }, body });

test('a compressed body is read whole and forwarded unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyCoding,
      fc.string({ maxLength: 2000, unit: 'grapheme' }),
      async ([coding, compress], content) => {
        const before = upstream.seen.length;
        expect((await post(coding, compress(ask(content)))).status).toBe(200);
        const seen = upstream.seen[before];
        expect([seen?.body, seen?.headers['content-encoding'], seen?.headers['accept-encoding']]).toEqual([
          ask(content),
          undefined,
          'identity',
        ]);
      },
    ),
    { numRuns: 30 },
  );
});

test('a compressed body that is truncated, corrupt, too large or compressed twice is refused', async () => {
  const before = upstream.seen.length;
  const [long, bomb] = [ask('x'.repeat(3000)), ask('x'.repeat(3_000_000))];
  for (const [coding, compress] of Object.entries(codings)) {
    const whole = compress(long);
    const results = [
      await post(coding, whole.subarray(0, whole.length - 3)),
      await post(
        coding,
        whole.map((byte, index) => (index === 2 ? byte ^ 0xff : byte)),
      ),
      ...(coding === 'identity' ? [] : [await post(coding, compress(bomb))]),
    ];
    const expected = coding === 'identity' ? [400, 400] : [400, 400, 413];
    expect([coding, ...results.map(({ status }) => status)]).toEqual([coding, ...expected]);
  }
  for (const coding of ['compress', 'gzip, gzip', 'zstd, br', 'constructor'])
    expect((await post(coding, gzipSync(ask()))).status).toBe(415);
  expect(upstream.seen.length).toBe(before);
});

test('an SDK that compresses its requests is guarded in process', async () => {
  await using opened = await openTestGateway(spec(''));
  const guarded = opened.runtime.fetch();
  const response = await guarded(`${upstream.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-encoding': 'gzip' },
    body: new Uint8Array(gzipSync(ask('compressed'))),
  });
  const seen = upstream.seen.at(-1);
  expect([response.status, seen?.body, seen?.headers['content-encoding']]).toEqual([
    200,
    ask('compressed'),
    undefined,
  ]);
});

test('an upgrade to WebSocket gets 426 at every path, and an upgrade to HTTP/2 is ignored', async () => {
  const websocket = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  for (const path of ['/v1/responses', '/', '/nowhere']) {
    const { status, headers, text } = await send(open, { path, headers: websocket });
    expect([status, headers, JSON.parse(text)]).toMatchObject([
      426,
      { upgrade: 'HTTP/1.1' },
      { error: { code: 'upgrade_refused' } },
    ]);
  }
  const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
  expect((await send(open, { path: '/healthz', headers: h2c })).status).toBe(200);
});

test('only the headers that the config names go upstream', async () => {
  const headers = { 'x-tenant': 'acme', 'x-other': 'no', cookie: 'a=b', authorization: 'Bearer mine' };
  await send(open, { method: 'POST', path: chat, headers, body: ask() });
  expect(upstream.seen.at(-1)?.headers).toMatchObject({ 'x-tenant': 'acme' });
  expect(upstream.seen.at(-1)?.headers).not.toMatchObject({ 'x-other': 'no' });
  expect(JSON.stringify(upstream.seen.at(-1)?.headers)).not.toMatch(/a=b|mine/);
});

const refused = fc.oneof(
  fc.constantFrom(
    'Authorization',
    'Proxy-Authorization',
    'Cookie',
    'X-Api-Key',
    'api-key',
    'X-Auth',
    'X-Session-Token',
  ),
  fc.constantFrom(
    'X-Signalbox-Key',
    'x-amz-security-token',
    'x-goog-api-key',
    'Set-Cookie',
    'my-secret',
    'X-Password',
  ),
  fc.constantFrom(
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Host',
    'Expect',
  ),
  fc.constantFrom(
    'Content-Length',
    'Content-Encoding',
    'Content-Type',
    'Accept-Encoding',
    'Origin',
    'Forwarded',
  ),
);

test('credentials and headers of a connection or body cannot be forwarded by name', async () => {
  await fc.assert(
    fc.asyncProperty(refused, fc.boolean(), async (name, isLower) => {
      const given = isLower ? name.toLowerCase() : name;
      await expect(
        openTestGateway(spec(`gateway: {forward_headers: [X-Fine, ${given}]}`)),
      ).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('forward_headers[1]'),
      });
    }),
    { numRuns: 40 },
  );
});

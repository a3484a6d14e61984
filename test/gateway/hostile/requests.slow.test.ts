import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openaiProvider } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream, type UpstreamServer } from '../upstream-server.ts';
import { post, type Serving, sendRaw, serve, statusesIn } from './serving.ts';

const allow = `#!/bin/sh\ncat > /dev/null; echo '{"allow": true}'\n`;
const limits = 'limits: {headers_ms: 1500, request_ms: 3000, body_bytes: 33554432}';

let upstream: UpstreamServer;
let served: Serving;
let descriptors: number;

describe.each([
  { kind: 'guarded', hooks: 'hooks: {guard: {command: ./guard.sh, hook: provider}}' },
  { kind: 'unguarded', hooks: '' },
])('a $kind gateway', ({ hooks }) => {
  beforeAll(async () => {
    upstream = await startUpstream(answerJson(chatAnswer('Hello')));
    served = await serve(
      `providers: [${openaiProvider(upstream.url)}]\ngateway: {audit: {}, ${limits}}\n${hooks}`,
      { 'guard.sh': allow },
    );
    await sendRaw(served.port, [post('/v1/chat/completions', question('Hi'))]);
    descriptors = served.descriptors();
  });

  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  const chat = '/v1/chat/completions';

  test.each<{ title: string; body: string | Uint8Array; status: number; headers?: string[] }>([
    { title: 'nothing', body: '', status: 400 },
    { title: 'one byte', body: '{', status: 400 },
    { title: 'white space', body: ' \n ', status: 400 },
    { title: 'a number', body: '7', status: 400 },
    { title: 'null', body: 'null', status: 400 },
    { title: 'a list', body: '[]', status: 400 },
    { title: 'no model', body: '{}', status: 400 },
    { title: 'a model that is no text', body: '{"model": {"a": 1}}', status: 400 },
    { title: 'two documents', body: `${question('Hi')}${question('Hi')}`, status: 400 },
    { title: 'a byte order mark', body: `\ufeff${question('Hi')}`, status: 400 },
    { title: 'Latin-1', body: Buffer.from(question('caf\u00e9'), 'latin1'), status: 400 },
    { title: 'UTF-16', body: Buffer.from(question('Hi'), 'utf16le'), status: 400 },
    { title: 'a lone continuation byte', body: bytesAround(0x80), status: 400 },
    { title: 'an overlong slash', body: bytesAround(0xc0, 0xaf), status: 400 },
    { title: 'a surrogate in UTF-8', body: bytesAround(0xed, 0xa0, 0x80), status: 400 },
    { title: 'a NUL byte', body: bytesAround(0), status: 400 },
    { title: 'a line break in a text', body: bytesAround(0x0a), status: 400 },
    { title: 'two models', body: `{"model": "m", "model": "m", "messages": []}`, status: 400 },
    { title: 'a comment', body: `/* */ ${question('Hi')}`, status: 400 },
    { title: 'a comma too many', body: question('Hi').replace(']}', ',]}'), status: 400 },
    { title: 'NaN', body: `{"model": "m", "messages": [], "seed": NaN}`, status: 400 },
    { title: 'brackets a million deep', body: '['.repeat(1_000_000), status: 400 },
    {
      title: 'objects a million deep',
      body: `{"model": "m", "a": ${'{"a":'.repeat(1_000_000)}`,
      status: 400,
    },
    { title: 'a model that is not there', body: question('Hi').replace('"m"', '"nope"'), status: 404 },
    {
      title: 'a model of a million signs',
      body: question('Hi').replace('"m"', `"${'x'.repeat(1_000_000)}"`),
      status: 404,
    },
    {
      title: 'a body that is not compressed as it says',
      body: question('Hi'),
      headers: ['content-encoding: gzip'],
      status: 400,
    },
    // The server discards a larger body for only half a second, then cuts the connection of a slow sender.
    { title: '40 MB', body: Buffer.alloc(40_000_000, ' '), status: 413 },
  ])('refuses $title', async ({ body, status, headers }) => {
    const before = upstream.seen.length;
    const answer = await sendRaw(served.port, [post(chat, body, headers)]);
    expect(statusesIn(answer)).toEqual([status]);
    expect(errorIn(answer)).toMatchObject({ message: expect.any(String), code: expect.any(String) });
    expect(upstream.seen).toHaveLength(before);
  });

  test.each([
    { title: 'a body with CRLF between its tokens', body: question('Hi').replaceAll(',', ',\r\n') },
    {
      title: 'keys that JavaScript minds',
      body: withMember('"__proto__": {"model": "x"}, "constructor": 1'),
    },
    { title: 'a text of escapes', body: question('\\u0000\\ud800 \\"') },
    { title: 'numbers with many digits', body: withMember(`"seed": ${'9'.repeat(400)}, "top_p": 1e-7`) },
    { title: 'a hundred thousand messages', body: manyMessages(100_000) },
    { title: 'a megabyte of brackets in a text', body: question('['.repeat(1_000_000)) },
  ])('passes $title byte for byte', async ({ body }) => {
    const answer = await sendRaw(served.port, [post(chat, body)]);
    expect(statusesIn(answer)).toEqual([200]);
    expect(upstream.seen.at(-1)?.body === body).toBe(true);
  });

  test.each([
    ['//v1/chat/completions', 404],
    ['/v1//chat/completions', 404],
    ['/v1/../v1/chat/completions', 200],
    ['/v1/chat/./completions', 200],
    ['/v1/chat%2fcompletions', 404],
    ['/v1/chat/completions/', 404],
    ['/V1/chat/completions', 404],
    ['/v1/chat/completions%00', 404],
    ['/v1/chat/completions;a=1', 404],
    ['/v1/files', 404],
    ['/v1/chat/completions/chatcmpl-1', 404],
    ['/v1/chat/completions?stream=true', 400],
    ['/v1/responses/resp_1/cancel', 404],
    ['/admin', 404],
    ['/%', 404],
    [`/${'a'.repeat(8000)}`, 404],
  ])('the path %s is %i, and never another endpoint of the upstream', async (path, status) => {
    const before = upstream.seen.length;
    const answer = await sendRaw(served.port, [post(path, question('Hi'))]);
    const [told = 0] = statusesIn(answer);
    expect([status, 400, 404]).toContain(told);
    const urls = upstream.seen.slice(before).map(({ url }) => url);
    expect(urls).toEqual(told === 200 ? ['/v1/chat/completions'] : []);
  });

  test.each([
    'GET',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'HEAD',
    'CONNECT',
    'BREW',
    'get',
  ])('the method %s forwards nothing', async (method) => {
    const before = upstream.seen.length;
    const head = `${method} ${chat} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
    const answer = await sendRaw(served.port, [head], { isEnded: true });
    for (const status of statusesIn(answer)) expect(status).toBeGreaterThanOrEqual(400);
    expect(answer).not.toContain('access-control-allow');
    expect(upstream.seen).toHaveLength(before);
  });

  const smuggled = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}`;

  test.each([
    {
      title: 'content-length and transfer-encoding',
      head: ['content-length: 4', 'transfer-encoding: chunked'],
      body: `0\r\n\r\n${smuggled}`,
    },
    { title: 'two lengths', head: ['content-length: 4', 'content-length: 5'], body: '{}{}{' },
    { title: 'a length with a sign', head: ['content-length: +4'], body: '{}{}' },
    { title: 'a length in hex', head: ['content-length: 0x4'], body: '{}{}' },
    { title: 'a negative length', head: ['content-length: -1'], body: '{}' },
    { title: 'an unknown coding', head: ['transfer-encoding: xchunked'], body: '0\r\n\r\n' },
    { title: 'chunked twice', head: ['transfer-encoding: chunked, chunked'], body: '0\r\n\r\n' },
    { title: 'chunked and identity', head: ['transfer-encoding: chunked, identity'], body: '0\r\n\r\n' },
    { title: 'a space before the colon', head: ['content-length : 4'], body: '{}{}' },
    { title: 'a folded header', head: ['x-a: 1', ' transfer-encoding: chunked'], body: '0\r\n\r\n' },
    { title: 'a bare line feed', head: ['x-a: 1\ncontent-length: 4'], body: '{}{}' },
    {
      title: 'a chunk size that overflows',
      head: ['transfer-encoding: chunked'],
      body: 'fffffffffffffffff\r\n',
    },
    {
      title: 'a chunk size with a sign',
      head: ['transfer-encoding: chunked'],
      body: '-2\r\n{}\r\n0\r\n\r\n',
    },
    { title: 'a NUL in a header', head: ['x-a: \0', 'content-length: 2'], body: '{}' },
    { title: 'no host', head: ['content-length: 2'], body: '{}', host: false },
  ])(
    'requests that two parsers split differently are refused: $title',
    async ({ head, body, host = true }) => {
      const before = upstream.seen.length;
      const lines = [`POST ${chat} HTTP/1.1`, ...(host ? ['host: localhost'] : []), ...head];
      const answer = await sendRaw(served.port, [`${lines.join('\r\n')}\r\n\r\n${body}`]);
      const statuses = statusesIn(answer);
      expect(statuses.length).toBeLessThanOrEqual(1);
      for (const status of statuses) expect(status).toBe(400);
      expect(upstream.seen).toHaveLength(before);
    },
  );

  test('an absolute URL reaches no other host', async () => {
    const request = Buffer.from(post(chat, question('Hi'))).toString();
    const absolute = request.replace(`POST ${chat}`, `POST http://example.invalid${chat}`);
    const [status = 0] = statusesIn(await sendRaw(served.port, [absolute]));
    expect([200, 400, 403, 404]).toContain(status);
    for (const { headers } of upstream.seen) expect(headers.host).toBe(new URL(upstream.url).host);
  });

  test('browser pages and foreign host names that resolve to the gateway are refused', async () => {
    const before = upstream.seen.length;
    const page = post(chat, question('Hi'), ['origin: https://example.com']);
    expect(statusesIn(await sendRaw(served.port, [page]))).toEqual([403]);
    const rebound = Buffer.from(post(chat, question('Hi')))
      .toString()
      .replace('host: localhost', 'host: evil.example');
    expect(statusesIn(await sendRaw(served.port, [rebound]))).toEqual([403]);
    expect(upstream.seen).toHaveLength(before);
  });

  test('pipelined requests on one connection are answered in order', async () => {
    const one = Buffer.from(post(chat, question('one')))
      .toString()
      .replace('connection: close\r\n', '');
    const bad = Buffer.from(post(chat, '{')).toString().replace('connection: close\r\n', '');
    const answer = await sendRaw(served.port, [
      one + bad + one + Buffer.from(post(chat, question('two'))).toString(),
    ]);
    expect(statusesIn(answer)).toEqual([200, 400, 200, 200]);
  });

  test('a body in one-byte chunks passes unchanged', async () => {
    const body = question('Hi');
    const head = `POST ${chat} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`;
    const pieces = [...body].map((sign) => `1\r\n${sign}\r\n`);
    expect(statusesIn(await sendRaw(served.port, [head, ...pieces, '0\r\n\r\n']))).toEqual([200]);
    expect(upstream.seen.at(-1)?.body).toBe(body);
  });

  test.each([
    {
      title: 'headers',
      pieces: ['POST / HTTP/1.1\r\n', ...Array.from({ length: 60 }, (_, at) => `x-${at}: 1\r\n`)],
    },
    {
      title: 'a body',
      pieces: [`POST ${chat} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n`, ...'x'.repeat(60)],
    },
  ])('a client that sends $title forever is cut off', async ({ pieces }) => {
    const before = upstream.seen.length;
    const started = performance.now();
    await sendRaw(served.port, pieces, { paceMs: 250 });
    expect(performance.now() - started).toBeLessThan(14_000);
    expect(upstream.seen).toHaveLength(before);
  });

  test.each([
    { title: 'many headers', headers: Array.from({ length: 5000 }, (_, at) => `x-header-${at}: value`) },
    { title: 'a huge header', headers: [`x-huge: ${'x'.repeat(1_000_000)}`] },
  ])('$title are refused', async ({ headers }) => {
    const before = upstream.seen.length;
    expect(statusesIn(await sendRaw(served.port, [post(chat, question('Hi'), headers)]))).toEqual([431]);
    expect(upstream.seen).toHaveLength(before);
  });

  test('a client that disconnects in the middle of its body costs nothing', async () => {
    const before = upstream.seen.length;
    const bytes = post(chat, question('x'.repeat(100_000)));
    for (let at = 1; at <= 20; at += 1) {
      await sendRaw(served.port, [bytes.subarray(0, Math.floor((bytes.length * at) / 21))], {
        isEnded: true,
      });
    }
    expect(upstream.seen).toHaveLength(before);
  });

  test('a wrong content-type does not bypass the hooks', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '',
    ]) {
      const bytes = Buffer.from(post(chat, question('Hi')))
        .toString()
        .replace('application/json', type);
      const [status = 0] = statusesIn(await sendRaw(served.port, [bytes]));
      expect([200, 400, 415]).toContain(status);
      expect(upstream.seen.at(-1)?.headers['content-type']).toBe('application/json');
    }
  });

  test('the gateway still works afterwards, holds no process and no socket, and shuts down cleanly', async () => {
    expect(await healthOf(served)).toBe(200);
    expect(statusesIn(await sendRaw(served.port, [post(chat, question('Hi'))]))).toEqual([200]);
    await expect.poll(() => served.descriptors(), { timeout: 30_000 }).toBeLessThanOrEqual(descriptors + 8);
    // The process watcher is also a child.
    await expect.poll(() => served.children().length, { timeout: 30_000 }).toBeLessThanOrEqual(1);
    expect(await served.stop()).toBe(0);
    expect(served.printed()).not.toMatch(/unhandled|uncaught|Error:|\bat .+:\d+:\d+/i);
  });
});

function question(text: string): string {
  const content = text.includes('\\') ? `"${text}"` : JSON.stringify(text);
  return `{"model":"m","messages":[{"role":"user","content":${content}}]}`;
}

function withMember(member: string): string {
  return question('Hi').replace('{"model"', `{${member}, "model"`);
}

function manyMessages(count: number): string {
  const messages = Array.from({ length: count }, (_, at) => ({
    role: at % 2 ? 'assistant' : 'user',
    content: `${at}`,
  }));
  return JSON.stringify({ model: 'm', messages });
}

function bytesAround(...bytes: readonly number[]): Uint8Array {
  const [before = '', after = ''] = question('<>').split('<>');
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
}

function errorIn(answer: string): unknown {
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  const json = body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1);
  return JSON.parse(json).error;
}

async function healthOf({ url }: Serving): Promise<number> {
  return (await fetch(`${url}/healthz`)).status;
}

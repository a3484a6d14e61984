import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openaiProvider } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream, type UpstreamServer } from '../upstream-server.ts';
import { serveTestGateway } from './serve-gateway.ts';

const path = '/v1/chat/completions';
const allow = { 'allow.sh': '#!/bin/sh\ncat >/dev/null\necho \'{"allow": true}\'\n' };
const hooked = '\nhooks: {f: {command: ./allow.sh, hook: provider}}';
const spec = (upstream: UpstreamServer, more = '') =>
  `state_store: {type: memory}\nproviders: [${openaiProvider(upstream.url)}]${more}`;

function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    body,
    ...init,
    headers: { 'content-type': 'application/json', ...init.headers },
  });
}

const ask = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
const askStream = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] });

async function codeOf(response: Response): Promise<unknown> {
  const told = (await response.json()) as { error: { code: string } };
  return [response.status, told.error.code];
}

function pieces(...texts: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

test('bodies that are too long, wrongly encoded or not UTF-8 are refused, and nothing goes upstream', async () => {
  await using upstream = await startUpstream(answerJson(chatAnswer('hi')));
  await using server = await serveTestGateway(spec(upstream, '\ngateway: {limits: {body_bytes: 1000}}'));
  const long = ask.replace('hi', 'x'.repeat(2000));
  const chunked = fetch(`${server.url}${path}`, {
    method: 'POST',
    body: pieces(long.slice(0, 500), long.slice(500)),
    duplex: 'half',
  } as RequestInit);
  expect([
    await codeOf(await post(server.url, long)),
    await codeOf(await chunked),
    await codeOf(await post(server.url, ask, { headers: { 'content-encoding': 'gzip' } })),
    await codeOf(await post(server.url, new Uint8Array([0x7b, 0xff, 0x7d]))),
    (await post(server.url, ask)).status,
    upstream.seen.length,
  ]).toEqual([
    [413, 'body_too_large'],
    [413, 'body_too_large'],
    [400, 'invalid_request'],
    [400, 'invalid_request'],
    200,
    1,
  ]);
});

test('without keys a browser page and another name of this machine are refused', async () => {
  await using upstream = await startUpstream(answerJson(chatAnswer('hi')));
  await using server = await serveTestGateway(spec(upstream));
  const page = await post(server.url, ask, { headers: { origin: 'https://example.com' } });
  const socket = connect(server.port, '127.0.0.1');
  socket.end(
    `POST ${path} HTTP/1.1\r\nhost: evil.example\r\ncontent-length: ${ask.length}\r\nconnection: close\r\n\r\n${ask}`,
  );
  const answered = (await socket.toArray()).join('');
  const options = await fetch(`${server.url}${path}`, { method: 'OPTIONS' });
  expect([
    page.status,
    answered.slice(0, 12),
    options.status,
    options.headers.has('access-control-allow-origin'),
  ]).toEqual([403, 'HTTP/1.1 403', 405, false]);
  expect(upstream.seen).toEqual([]);
});

test('a client that sends its headers slowly is cut off', async () => {
  await using upstream = await startUpstream(answerJson(chatAnswer('hi')));
  await using server = await serveTestGateway(
    spec(upstream, '\ngateway: {limits: {headers_ms: 100, request_ms: 300}}'),
  );
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nhost: localhost\r\n');
  const slowBody = connect(server.port, '127.0.0.1');
  slowBody.on('error', () => {});
  slowBody.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{`);
  socket.resume();
  slowBody.resume();
  await Promise.all([once(socket, 'close'), once(slowBody, 'close')]);
  expect((await post(server.url, ask)).status).toBe(200);
});

test.each([
  { title: 'without hooks', more: '' },
  { title: 'held by hooks', more: hooked },
])('a client that disconnects ends the upstream call, $title', async ({ more }) => {
  for (const body of [ask, askStream]) {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    await using upstream = await startUpstream((_request, response) => {
      response.once('close', resolve);
      if (body !== askStream) return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {}\n\n'.replace('{}', JSON.stringify({ ...chunk, choices: [] })));
    });
    await using server = await serveTestGateway(spec(upstream, more), allow);
    const abort = new AbortController();
    const call = post(server.url, body, { signal: abort.signal }).then((response) => response.text());
    call.catch(() => {});
    while (upstream.seen.length === 0) await sleep(10);
    await sleep(50);
    abort.abort();
    await closed;
    await expect(call).rejects.toThrow();
  }
});

const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };

test('a client that does not read is cut off, and its upstream with it', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  await using upstream = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const line = `data: ${'x'.repeat(60_000)}\n\n`;
    const more = () => {
      while (!response.destroyed && response.write(line));
    };
    response.on('drain', more).once('close', resolve);
    more();
  });
  await using server = await serveTestGateway(spec(upstream, '\ngateway: {limits: {idle_ms: 500}}'));
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${askStream.length}\r\n\r\n${askStream}`,
  );
  await once(socket, 'readable');
  await closed;
  socket.destroy();
  expect(upstream.seen.length).toBe(1);
});

test.each([
  {
    title: 'redirects',
    answer: answerJson({}, 307, { location: 'http://127.0.0.1:1/' }),
    told: [502, 'upstream_redirected'],
  },
  {
    title: 'compresses all the same',
    answer: answerJson('x', 200, { 'content-encoding': 'gzip' }),
    told: [502, 'upstream_invalid'],
  },
  {
    title: 'breaks off',
    answer: (_request: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{', () => response.destroy());
    },
    told: [502, 'upstream_unreachable'],
  },
  {
    title: 'is silent',
    answer: () => {},
    told: [504, 'upstream_timeout'],
  },
  {
    title: 'never ends its answer',
    answer: (_request: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const dribble = setInterval(() => response.write(' '), 50);
      response.once('close', () => clearInterval(dribble));
    },
    told: [504, 'upstream_timeout'],
  },
])('an upstream that $title is reported as such, with hooks and without', async ({ answer, told }) => {
  await using upstream = await startUpstream(answer);
  for (const more of ['', hooked]) {
    await using server = await serveTestGateway(
      spec(upstream, `${more}\ngateway: {limits: {upstream_ms: 1000, answer_ms: 1000}}`),
      allow,
    );
    expect(await codeOf(await post(server.url, ask))).toEqual(told);
  }
});

test('an endless stream is ended in time together with its upstream, and nothing is printed', async () => {
  const printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'info')];
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let count = 0;
  await using upstream = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const delta = { index: 0, delta: { role: 'assistant', content: 'still here ' } };
    const line = `data: ${JSON.stringify({ ...chunk, choices: [delta] })}\n\n: ping\n\n`;
    const dribble = setInterval(() => response.write(line), 50);
    response.once('close', () => {
      clearInterval(dribble);
      count += 1;
      if (count === 2) resolve();
    });
  });
  for (const more of ['', hooked]) {
    const limits = '\ngateway: {limits: {answer_ms: 1000, idle_ms: 60000}}';
    await using server = await serveTestGateway(spec(upstream, more + limits), allow);
    const response = await post(server.url, askStream);
    // An unguarded stream is cut, like a stream that its upstream cuts.
    const told = await response.text().catch(() => 'broken off');
    expect(told).toMatch(more === '' ? /^broken off$/ : /upstream_timeout/);
    expect(told).not.toContain('[DONE]');
  }
  await closed;
  for (const spy of printed) expect(spy).not.toHaveBeenCalled();
});

test('an unreachable upstream is reported as such', async () => {
  const upstream = await startUpstream(answerJson({}));
  await upstream[Symbol.asyncDispose]();
  await using server = await serveTestGateway(spec(upstream));
  expect(await codeOf(await post(server.url, ask))).toEqual([502, 'upstream_unreachable']);
});

test('an error of the upstream passes with its status and its rate limits', async () => {
  const body = {
    error: { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' },
  };
  await using upstream = await startUpstream(
    answerJson(body, 429, { 'retry-after': '7', 'x-ratelimit-remaining-requests': '0', 'x-secret': 's' }),
  );
  for (const more of ['', hooked]) {
    await using server = await serveTestGateway(spec(upstream, more), allow);
    const response = await post(server.url, ask);
    const header = (name: string) => response.headers.get(name);
    expect([
      response.status,
      await response.json(),
      header('retry-after'),
      header('x-ratelimit-remaining-requests'),
      header('x-secret'),
    ]).toEqual([429, body, '7', '0', null]);
  }
});

test('a stream that breaks off cuts its client without a text of ours, and nothing is printed', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  await using upstream = await startUpstream((_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[]}\n\n', () => setTimeout(() => response.destroy(), 50));
  });
  await using server = await serveTestGateway(spec(upstream));
  const socket = connect(server.port, '127.0.0.1');
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk;
  });
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${askStream.length}\r\n\r\n${askStream}`,
  );
  await once(socket, 'close');
  expect(heard).toMatch(/^HTTP\/1\.1 200 /);
  expect(heard).toMatch(/data: \{"choices":\[\]\}\n\n\r\n$/);
  expect(printed).not.toHaveBeenCalled();
});

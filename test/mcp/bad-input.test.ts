import { request as httpRequest } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { serveOverHttp, serveOverStdio } from '../../src/mcp/serve.ts';
import { fixture, workspace } from '../workspace.ts';

const MAX = 4096;
const spec = `
mcp: {max_message_bytes: ${MAX}}
tools: {echo: {exec: {command: ${fixture('echo-args')}}}}
`;

let url: URL;
let close: () => Promise<void>;
let runtime: Awaited<ReturnType<typeof openRuntime>>;
beforeAll(async () => {
  runtime = await openRuntime(`${workspace(spec)}/runtime.yaml`, { log: false });
  const served = await serveOverHttp(runtime, { tools: undefined, version: '1', listen: '127.0.0.1:0' });
  url = new URL(served.url);
  close = served.close;
});
afterAll(async () => {
  await close();
  await runtime.close();
});

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const modern = (method: string, params: object = {}, id: unknown = 7) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope } });
const older = (method: string, params?: unknown, id: unknown = 7) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const deep = `${'['.repeat(1500)}${']'.repeat(1500)}`;
const long = (id: string) =>
  `{"method":"tools/call","params":{"name":"echo","arguments":{"x":"${'x'.repeat(MAX)}","id":1}},"jsonrpc":"2.0"${id}}`;

interface Bad {
  readonly title: string;
  readonly body: string | Uint8Array;
  readonly code: number;
  readonly message: string | RegExp;
  /** The id of the answer; 7 by default. */
  readonly id?: string | number | null;
  /** The status over HTTP; 400 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const calls = (params: object) => ({ body: older('tools/call', params), code: -32602 });
const messages: readonly Bad[] = [
  { title: 'not JSON', body: '{"a":', id: null, code: -32700, message: /^the message is not JSON: / },
  { title: 'JSON with a comma too many', body: '{"id":7,}', id: null, code: -32700, message: /not JSON/ },
  {
    title: 'not UTF-8',
    body: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
    ...{ id: null, code: -32700, message: 'the message is not UTF-8' },
  },
  {
    title: 'a batch',
    body: `[${modern('tools/list')}]`,
    id: null,
    code: -32600,
    message: /^batches are not/,
  },
  { title: 'an empty batch', body: '[]', id: null, code: -32600, message: /^batches are not/ },
  { title: 'a string', body: '"tools/list"', id: null, code: -32600, message: /must be a JSON object/ },
  { title: 'null', body: 'null', id: null, code: -32600, message: /must be a JSON object/ },
  { title: 'nested too deep', body: deep, id: null, code: -32600, message: /deeper than 1000 levels/ },
  {
    title: 'no version',
    body: '{"id":7,"method":"tools/list"}',
    code: -32600,
    message: '`jsonrpc` must be "2.0"',
  },
  {
    title: 'a wrong version',
    body: '{"jsonrpc":2,"id":7}',
    code: -32600,
    message: '`jsonrpc` must be "2.0"',
  },
  {
    title: 'no method',
    body: '{"jsonrpc":"2.0","id":7}',
    code: -32600,
    message: '`method` must be a string',
  },
  {
    title: 'a method that is a number',
    body: '{"jsonrpc":"2.0","id":7,"method":5}',
    code: -32600,
    message: /method/,
  },
  ...['{}', '[1]', 'null', 'true', '1.5', '12345678901234567890', '1e400'].map((id) => ({
    title: `the id ${id}`,
    body: `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`,
    ...{ id: null, code: -32600, message: '`id` must be a string, or an integer below 2^53' },
  })),
  {
    title: 'params that are a list',
    body: older('tools/list', [1]),
    code: -32602,
    message: '`params` must be an object',
  },
  {
    title: 'params that are a text',
    body: older('tools/list', 'x'),
    code: -32602,
    message: '`params` must be an object',
  },
  {
    title: 'no params of a call',
    body: older('tools/call'),
    code: -32602,
    message: '`params` must be an object',
  },
  { title: 'no name', ...calls({}), message: '`params.name` must be a string' },
  { title: 'a name that is a number', ...calls({ name: 5 }), message: '`params.name` must be a string' },
  {
    title: 'arguments that are a list',
    ...calls({ name: 'echo', arguments: [] }),
    message: '`params.arguments` must be an object',
  },
  {
    title: 'arguments that are null',
    ...calls({ name: 'echo', arguments: null }),
    message: '`params.arguments` must be an object',
  },
  {
    title: 'a _meta that is a text',
    ...calls({ name: 'echo', _meta: 'x' }),
    message: '`params._meta` must be an object',
  },
  {
    title: 'a progress token that is an object',
    ...calls({ name: 'echo', _meta: { progressToken: {} } }),
    message: '`params._meta.progressToken` must be a string, or an integer below 2^53',
  },
  {
    title: 'a cursor that is a number',
    body: older('tools/list', { cursor: 5 }),
    code: -32602,
    message: '`params.cursor` must be a string',
  },
  {
    title: 'too long, with the id at its end',
    body: long(',"id":7'),
    status: 413,
    code: -32600,
    message: new RegExp(`longer than ${MAX} bytes`),
  },
];

/** What only an answer to a request shows, after the era is known. */
const requests: readonly Bad[] = [
  {
    title: 'an unknown method',
    ...{ body: modern('tools/remove'), status: 404, code: -32601, message: /Method not found/ },
    headers: { 'mcp-method': 'tools/remove' },
  },
  {
    title: 'a method that 2026 no longer has',
    ...{ body: modern('ping'), status: 404, code: -32601, message: /Method not found/ },
    headers: { 'mcp-method': 'ping' },
  },
  {
    title: 'a cursor of nobody',
    ...{
      body: modern('tools/list', { cursor: 'x' }),
      status: 200,
      code: -32602,
      message: /not a cursor of this server/,
    },
    headers: { 'mcp-method': 'tools/list' },
  },
  {
    title: 'an unknown tool',
    ...{
      body: modern('tools/call', { name: 'remove' }),
      status: 200,
      code: -32602,
      message: /there is no tool "remove"/,
    },
    headers: { 'mcp-method': 'tools/call', 'mcp-name': 'remove' },
  },
  {
    title: 'an unknown tool with a long name',
    ...{
      body: modern('tools/call', { name: 'x'.repeat(3_000) }),
      status: 200,
      code: -32602,
      message: /there is no tool "x{100}…"$/,
    },
    headers: { 'mcp-method': 'tools/call', 'mcp-name': 'x'.repeat(3_000) },
  },
  {
    title: 'an unknown version of the protocol',
    body: modern('tools/list').replace('2026-07-28', '2031-01-01'),
    ...{ code: -32022, message: /Unsupported protocol version/ },
    headers: { 'mcp-method': 'tools/list', 'mcp-protocol-version': '2031-01-01' },
  },
  {
    title: 'capabilities that are a list',
    body: modern('tools/list').replace('{}', '[]'),
    ...{ code: -32602, message: /clientCapabilities/ },
    headers: { 'mcp-method': 'tools/list' },
  },
];

test.each([...messages, ...requests])('over HTTP, $title is refused', async (bad) => {
  const { status, body } = await post({ body: bad.body, headers: bad.headers ?? {} });
  // The body of a request that is too long is not read to its end.
  const id = bad.status === 413 ? null : bad.id === undefined ? 7 : bad.id;
  expect({ status, body }).toEqual({
    status: bad.status ?? 400,
    body: { jsonrpc: '2.0', id, error: errorOf(bad) },
  });
});

test.each([...messages, ...requests])(
  'over stdio, $title is refused and the connection stays',
  async (bad) => {
    const [answer, next] = await talk(bad.body, modern('tools/list', {}, 'next'));
    expect(answer).toEqual({ jsonrpc: '2.0', id: bad.id === undefined ? 7 : bad.id, error: errorOf(bad) });
    expect(next).toMatchObject({ id: 'next', result: { tools: [{ name: 'echo' }] } });
  },
);

function errorOf({ code, message }: Bad) {
  const text = typeof message === 'string' ? message : expect.stringMatching(message);
  return expect.objectContaining({ code, message: text });
}

test.each([
  { title: 'the id at its end', line: long(',"id":"a\\"b"'), id: 'a"b' },
  { title: 'the id before other members', line: long(',"id":-3,"method":"x"'), id: -3 },
  { title: 'the id at its start', line: `{"jsonrpc":"2.0","id":8,${long('').slice(1)}`, id: 8 },
  { title: 'an id in the arguments only', line: long(''), id: null },
  { title: 'no JSON', line: 'x'.repeat(3 * MAX), id: null },
])('over stdio, a line that is too long is answered: $title', async ({ line, id }) => {
  const [answer, next] = await talk(line, modern('tools/list', {}, 'next'));
  expect(answer).toMatchObject({
    id,
    error: { code: -32600, message: expect.stringContaining('max_message_bytes') },
  });
  expect(next).toMatchObject({ id: 'next', result: {} });
});

test('over stdio, blank lines and carriage returns are no messages', async () => {
  const [answer] = await talk('\n \r\n\t\r', `${modern('tools/list')}\r`);
  expect(answer).toMatchObject({ id: 7, result: {} });
});

test('over stdio, a message may come in pieces of one byte', async () => {
  const [answer] = await talk(...[...modern('tools/list')].map((byte) => ({ byte })), '');
  expect(answer).toMatchObject({ id: 7, result: {} });
});

test('over stdio, the last line may lack its line break', async () => {
  const [answer] = await talk(...[...modern('tools/list')].map((byte) => ({ byte })));
  expect(answer).toMatchObject({ id: 7, result: {} });
});

const ok = { body: modern('tools/list'), headers: { 'mcp-method': 'tools/list' } };

test.each([
  { title: 'GET', given: { method: 'GET' }, status: 405 },
  { title: 'DELETE', given: { method: 'DELETE' }, status: 405 },
  { title: 'PUT', given: { ...ok, method: 'PUT' }, status: 405 },
  { title: 'OPTIONS', given: { method: 'OPTIONS' }, status: 405 },
  { title: 'another path', given: { ...ok, path: '/' }, status: 404 },
  { title: 'a longer path', given: { ...ok, path: '/mcp/tools' }, status: 404 },
  {
    title: 'text/plain',
    given: { ...ok, headers: { ...ok.headers, 'content-type': 'text/plain' } },
    status: 415,
  },
  { title: 'no body', given: {}, status: 400 },
  {
    title: 'the Host of a page',
    given: { ...ok, headers: { ...ok.headers, host: 'evil.example' } },
    status: 403,
  },
  {
    title: 'another port in Host',
    given: { ...ok, headers: { ...ok.headers, host: '127.0.0.1:1' } },
    status: 403,
  },
  {
    title: 'the Origin of a page',
    given: { ...ok, headers: { ...ok.headers, origin: 'http://evil.example' } },
    status: 403,
  },
  { title: 'the Origin null', given: { ...ok, headers: { ...ok.headers, origin: 'null' } }, status: 403 },
  {
    title: 'another port in Origin',
    given: { ...ok, headers: { ...ok.headers, origin: 'http://127.0.0.1:1' } },
    status: 403,
  },
  {
    title: 'a Mcp-Method of another method',
    given: { ...ok, headers: { 'mcp-method': 'tools/call' } },
    status: 400,
  },
  { title: 'no Mcp-Method', given: { body: ok.body }, status: 400 },
  { title: 'a good request', given: ok, status: 200 },
])('over HTTP, the status of $title is $status', async ({ given, status }) => {
  expect(await post(given)).toMatchObject({ status });
});

test('over HTTP, requests to localhost, and of a page of the server itself, pass', async () => {
  for (const host of [`localhost:${url.port}`, `127.0.0.1:${url.port}`, `[::1]:${url.port}`]) {
    const headers = { ...ok.headers, host, origin: `http://${host}` };
    expect(await post({ ...ok, headers })).toMatchObject({ status: 200 });
  }
});

test('over HTTP, a body without a length is refused once it is too long', async () => {
  const { status } = await post({ body: long(',"id":7'), headers: { 'transfer-encoding': 'chunked' } });
  expect(status).toBe(413);
});

interface Given {
  readonly body?: string | Uint8Array;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Node's `fetch` refuses to send some of these headers. */
async function post({ body = '', method = 'POST', path = url.pathname, headers = {} }: Given) {
  const usual = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(String(body).includes('2026-07-28') && { 'mcp-protocol-version': '2026-07-28' }),
    ...(!('transfer-encoding' in headers) && { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const { hostname, port } = url;
  const sent = httpRequest({ hostname, port, path, method, agent: false, headers: { ...usual, ...headers } });
  const answered = new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', async (response) => {
      const whole = await text(response);
      resolve({ status: response.statusCode ?? 0, body: whole === '' ? '' : JSON.parse(whole) });
    });
  });
  sent.end(body);
  return await answered;
}

/** Writes lines, or single bytes, and gives the answers until stdin has ended. */
async function talk(
  ...lines: readonly (string | Uint8Array | { readonly byte: string })[]
): Promise<unknown[]> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const served = await serveOverStdio(runtime, { tools: undefined, version: '1', stdin, stdout });
  for (const line of lines) {
    if (typeof line === 'object' && 'byte' in line) stdin.write(line.byte);
    else stdin.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
  }
  stdin.end();
  await served.closed;
  await served.close();
  stdout.end();
  return (await text(stdout))
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
}

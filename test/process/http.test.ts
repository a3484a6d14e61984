import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { toFault } from '../../src/base/errors.ts';
import { type Endpoint, openHttpTransport } from '../../src/process/http.ts';
import { createPool } from '../../src/process/pool.ts';
import type { Message, Transport } from '../../src/process/transport.ts';
import { faultOf, textOf } from './harness.ts';

interface Heard {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Peer {
  readonly port: number;
  readonly heard: readonly Heard[];
  readonly asked: Promise<void>;
}

/** A server on loopback that closes after the test. */
async function serve(answer: (response: ServerResponse, heard: Heard) => void): Promise<Peer> {
  const heard: Heard[] = [];
  const asked = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url: path, headers } = request;
    const one = { method, path, headers, body: Buffer.concat(chunks).toString() };
    heard.push(one);
    asked.resolve();
    answer(response, one);
  });
  const port = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return { port, heard, asked: asked.promise };
}

async function listen(server: ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

const message: Message = { method: 'PreToolUse', body: '{"n": 12345678901234567890, "s":"grün"}' };

function open(port: number, overrides: Partial<Endpoint> = {}, pool = createPool(9)): Transport {
  const url = `http://127.0.0.1:${port}/hook`;
  const limits = { privateHosts: [], timeoutMs: 10_000, maxOutputBytes: 1000 };
  const transport = openHttpTransport({ name: 'guard', url, headers: {}, ...limits, ...overrides }, pool);
  onTestFinished(() => transport.close());
  return transport;
}

const endsWith =
  (status: number, body = '') =>
  (response: ServerResponse) =>
    void response.writeHead(status).end(body);

test('a message is one POST, its body byte for byte, its headers final', async () => {
  const { port, heard } = await serve(endsWith(200, '{"decision": "block"}'));
  const headers = { 'X-Token': 'topsecret', Authorization: 'Bearer abc' };
  const reply = await open(port, { headers }).exchange({ ...message, terminator: '\n' });
  expect(reply).toEqual({
    via: 'process',
    exitCode: null,
    signal: null,
    stdout: Buffer.from('{"decision": "block"}'),
    stderr: '',
    httpStatus: 200,
  });
  expect(heard).toMatchObject([
    {
      method: 'POST',
      path: '/hook',
      headers: { 'content-type': 'application/json', 'x-token': 'topsecret', authorization: 'Bearer abc' },
      body: message.body,
    },
  ]);
});

test.each([204, 400, 500, 503])('a %d is a reply with its status', async (status) => {
  const { port } = await serve(endsWith(status));
  expect(await open(port).exchange(message)).toMatchObject({
    httpStatus: status,
    stdout: Buffer.alloc(0),
  });
});

test.each([301, 302, 307, 308])('a %d is a reply too, and is not followed', async (status) => {
  const { port, heard } = await serve((response) => {
    response.writeHead(status, { location: '/elsewhere' }).end();
  });
  expect(await open(port).exchange(message)).toMatchObject({ httpStatus: status });
  expect(heard.map(({ path }) => path)).toEqual(['/hook']);
});

test('credentials of a URL go into a header, unless the endpoint has one', async () => {
  const { port, heard } = await serve(endsWith(200));
  const url = `http://an%20n:p%3Aw@127.0.0.1:${port}/hook?key=1`;
  await open(port, { url }).exchange(message);
  await open(port, { url, headers: { authorization: 'Bearer abc' } }).exchange(message);
  expect(heard.map(({ path, headers }) => [path, headers.authorization])).toEqual([
    ['/hook?key=1', `Basic ${Buffer.from('an n:p:w').toString('base64')}`],
    ['/hook?key=1', 'Bearer abc'],
  ]);
});

test('a body of exactly the limit is read', async () => {
  const { port } = await serve(endsWith(200, 'x'.repeat(1000)));
  expect(textOf(await open(port).exchange(message))).toBe('x'.repeat(1000));
});

test('a body beyond the limit, however long, is OUTPUT_LIMIT', async () => {
  const { port } = await serve((response) => {
    response.write('x'.repeat(1001));
  });
  expect(toFault(await faultOf(open(port).exchange(message)))).toEqual({
    code: 'OUTPUT_LIMIT',
    message: '"guard" answered with more than 1000 bytes',
    hint: 'Raise max_output_bytes, or write less to stdout.',
    details: { http: true },
  });
});

async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a refused connection is PROCESS_START, which shows neither credentials nor query', async () => {
  const port = await closedPort();
  const url = `http://ann:secret@127.0.0.1:${port}/hook?token=secret#secret`;
  const fault = await faultOf(open(port, { url, headers: { 'x-key': 'secret' } }).exchange(message));
  expect(toFault(fault)).toEqual({
    code: 'PROCESS_START',
    message: `"guard" could not be reached at http://127.0.0.1:${port}/hook: ECONNREFUSED`,
    hint: 'Check that the server is running and that the url is correct.',
    details: { http: true },
  });
});

const breaks = [
  { title: 'before the answer', answer: (response: ServerResponse) => void response.destroy() },
  {
    title: 'in the midst of it',
    answer: (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"decision"', () => response.destroy());
    },
  },
];

test.each(breaks)('a connection that breaks $title is PROCESS_START, and no reply', async ({ answer }) => {
  const { port } = await serve(answer);
  expect(await faultOf(open(port).exchange(message))).toMatchObject({
    code: 'PROCESS_START',
    details: { http: true },
  });
});

const limits = [
  { title: 'the endpoint’s', endpoint: { timeoutMs: 200 }, own: {}, ms: 200 },
  { title: 'the message’s own', endpoint: {}, own: { timeoutMs: 150 }, ms: 150 },
];

test.each(limits)('$title limit is PROCESS_TIMEOUT', async ({ endpoint, own, ms }) => {
  const { port } = await serve((response) => void response.write('{'));
  expect(toFault(await faultOf(open(port, endpoint).exchange({ ...message, ...own })))).toMatchObject({
    code: 'PROCESS_TIMEOUT',
    message: `"guard" did not answer within ${ms} ms`,
    details: { http: true },
  });
});

const unsendable = [
  { title: 'a url that is none', change: { url: 'secret' } },
  { title: 'a url of another protocol', change: { url: 'data:application/json,{"secret":1}' } },
  { title: 'a header with a line break in it', change: { headers: { 'x-key': 'secret\nx: y' } } },
  { title: 'a header with letters of another world', change: { headers: { 'x-key': 'secret ☂' } } },
];

test.each(unsendable)(
  '$title is CONFIG_INVALID without its text, and nothing is sent',
  async ({ change }) => {
    const { port, heard } = await serve(endsWith(200));
    const fault = await faultOf(open(port, change).exchange(message));
    expect(fault.code).toBe('CONFIG_INVALID');
    expect(`${fault.message} ${JSON.stringify(fault.details)} ${fault.cause}`).not.toContain('secret');
    expect(heard).toEqual([]);
  },
);

test('a caller’s abort is ABORTED at once, and closes the connection', async () => {
  const gone = Promise.withResolvers<void>();
  const { port, asked } = await serve((response) => void response.on('close', gone.resolve));
  const caller = new AbortController();
  const fault = faultOf(open(port).exchange(message, caller.signal));
  await asked;
  caller.abort('enough');
  expect(await fault).toMatchObject({ code: 'ABORTED' });
  await gone.promise;
});

test('close() ends exchanges in progress, and later ones are RUNTIME_CLOSED', async () => {
  const gone = Promise.withResolvers<void>();
  const { port, heard, asked } = await serve((response) => void response.on('close', gone.resolve));
  const transport = open(port);
  const fault = faultOf(transport.exchange(message));
  await asked;
  await transport.close();
  expect((await fault).code).toBe('ABORTED');
  await gone.promise;
  expect((await faultOf(transport.exchange(message))).code).toBe('RUNTIME_CLOSED');
  expect(heard).toHaveLength(1);
});

test('exchanges wait for a slot of the pool, and warm() sends nothing', async () => {
  const { port, heard } = await serve(endsWith(200));
  const pool = createPool(1);
  const transport = open(port, {}, pool);
  transport.warm();
  const release = Promise.withResolvers<void>();
  const held = pool.add(() => release.promise);
  const answered = transport.exchange(message);
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual([]);
  release.resolve();
  await held;
  expect(await answered).toMatchObject({ httpStatus: 200 });
  expect(transport.notify).toBeUndefined();
});

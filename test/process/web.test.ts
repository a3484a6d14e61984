import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { isHostEntry, openFetch, type WebRules } from '../../src/process/web.ts';

/** A server on loopback until the test ends. `connections` counts what has reached it. */
async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    void response.end('ok'),
) {
  const seen = { connections: 0, requests: 0 };
  const server = createServer((request, response) => {
    seen.requests += 1;
    answer(request, response);
  });
  server.on('connection', () => {
    seen.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...seen, seen, port: (server.address() as AddressInfo).port };
}

/** Answers each question with the next list of addresses, and the last one again. */
function resolver(...answers: string[][]) {
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    const found = answers[Math.min(asked.length, answers.length) - 1] ?? [];
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { asked, resolve };
}

async function get(url: string, rules: Partial<WebRules> = {}): Promise<string> {
  const response = await openFetch({ privateHosts: [], ...rules })(url);
  return `${response.status} ${await response.text()}`;
}

const refused = expect.objectContaining({ code: 'ADDRESS_REFUSED' });

const literals = [
  ...['127.0.0.1', '2130706433', '0x7f.1', '0x7f000001', '017700000001', '0177.0.0.1', '127.1', '127.0.0.1.'],
  ...['0', '10.0.0.1', '192.168.0.1', '172.31.255.255', '169.254.169.254', '100.64.0.1', '192.0.0.8'],
  ...[
    '198.18.0.1',
    '224.0.0.1',
    '239.1.2.3',
    '255.255.255.255',
    '240.0.0.1',
    '１２７.０.０.１',
    '127。0。0。1',
  ],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[fe80::1]', '[fc00::1]'],
  ...['[fd12:3456::1]', '[ff02::1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::a00:1]'],
  ...['[2002:7f00:1::]', '[2001:0:7f00:1::]', '[2001:db8::1]', '[fec0::1]', '[100::1]'],
  ...['127.0.0.1#@public.example', '127.0.0.1\\@public.example'],
];

test.each(literals)('nothing is sent to http://%s', async (host) => {
  const { seen, port } = await serve();
  await expect(get(`http://${host}/`)).rejects.toEqual(refused);
  const ported = host.replace(/(\]|\d)(?=$|[#\\])/u, `$1:${port}`);
  await expect(get(`http://${ported}/`)).rejects.toEqual(refused);
  expect(seen.connections).toBe(0);
});

test.each(['localhost', 'LOCALHOST', 'ⓛocalhost', 'localhost.'])(
  'nothing is sent to http://%s',
  async (host) => {
    const { seen, port } = await serve();
    const { resolve } = resolver(['127.0.0.1']);
    const rules = host.endsWith('.') ? { resolve } : {};
    await expect(get(`http://${host}:${port}/`, rules)).rejects.toEqual(refused);
    expect(seen.connections).toBe(0);
  },
);

test.each(['public.example@127.0.0.1', 'public.example:80@127.0.0.1', 'user:pw@localhost'])(
  'nothing is sent to http://%s: a URL may have no user',
  async (host) => {
    const { seen, port } = await serve();
    await expect(get(`http://${host}:${port}/`)).rejects.toThrow('credentials');
    expect(seen.connections).toBe(0);
  },
);

const addresses = [
  ...['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:10.0.0.1', '::ffff:a00:1', 'fe80::1%eth0'],
  ...['64:ff9b::10.0.0.1', '64:ff9b::a00:1', 'fd00::1', '0.0.0.0', '::', '2001:db8::1'],
];

test.each(addresses)('a name that leads to %s is refused, and the error says what to do', async (address) => {
  const { resolve } = resolver([address]);
  await expect(get('https://inner.example/a?key=secret', { resolve })).rejects.toMatchObject({
    code: 'ADDRESS_REFUSED',
    message: `https://inner.example leads to ${address}, a private address`,
    hint: 'If this is meant, add inner.example to `spec.private_hosts`.',
  });
});

test.each([
  ['8.8.8.8'],
  ['2606:4700::1111'],
  ['::ffff:8.8.8.8'],
  // NAT64 of a public address: networks without IPv4 reach the world through it.
  ['64:ff9b::808:808'],
])('a name may lead to %s', async (address) => {
  const { port } = await serve();
  // Node connects to the first address, and would try the next one if that failed.
  const { resolve } = resolver(['127.0.0.1', address]);
  expect(await get(`http://public.example:${port}/`, { resolve, privateHosts: ['127.0.0.1'] })).toBe(
    '200 ok',
  );
});

test('a name with a public and a private address is refused, whichever comes first', async () => {
  const { seen, port } = await serve();
  for (const found of [
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['2606:4700::1111', '::1'],
  ])
    await expect(get(`http://two.example:${port}/`, resolver(found))).rejects.toEqual(refused);
  expect(seen.connections).toBe(0);
});

test('a connection goes to the addresses that were checked: the name is not resolved again', async () => {
  const { seen, port } = await serve();
  const { asked, resolve } = resolver(['127.0.0.1'], ['10.9.9.9']);
  const send = openFetch({ privateHosts: ['127.0.0.0/8'], resolve });
  const url = `http://rebind.example:${port}/`;
  expect(await (await send(url)).text()).toBe('ok');
  // The second request uses the open connection.
  expect(await (await send(url)).text()).toBe('ok');
  expect({ asked, ...seen }).toEqual({ asked: ['rebind.example'], connections: 1, requests: 2 });
});

test('each new connection resolves the name again, and checks what it finds', async () => {
  const { seen, port } = await serve(
    (_, response) => void response.setHeader('connection', 'close').end('ok'),
  );
  const { asked, resolve } = resolver(['127.0.0.1'], ['10.9.9.9']);
  const send = openFetch({ privateHosts: ['127.0.0.0/8'], resolve });
  const url = `http://rebind.example:${port}/`;
  expect(await (await send(url)).text()).toBe('ok');
  await expect(send(url)).rejects.toEqual(refused);
  expect({ asked: asked.length, ...seen }).toEqual({ asked: 2, connections: 1, requests: 1 });
});

test('a URL of the config may name an address or localhost, with its port only', async () => {
  const [one, other] = [await serve(), await serve()];
  for (const host of ['127.0.0.1', 'localhost', '2130706433']) {
    const named = `http://${host}:${one.port}/mcp`;
    expect(await get(`http://${host}:${one.port}/other`, { named })).toBe('200 ok');
    await expect(get(`http://${host}:${other.port}/`, { named })).rejects.toEqual(refused);
    await expect(get(`https://${host}:${one.port}/`, { named })).rejects.toEqual(refused);
  }
  expect(other.seen.connections).toBe(0);
});

test('a name of the config that leads to a private address needs an entry', async () => {
  const { port } = await serve();
  const named = `http://hooks.corp.example:${port}/`;
  const { resolve } = resolver(['127.0.0.1']);
  await expect(get(named, { named, resolve })).rejects.toEqual(refused);
  for (const entry of ['hooks.corp.example', '*.CORP.example', '127.0.0.1', '127.0.0.0/8', '*'])
    expect(await get(named, { named, resolve, privateHosts: [entry] })).toBe('200 ok');
  for (const entry of ['corp.example', 'hooks.corp.example.org', '127.0.0.2', '10.0.0.0/8', '::1'])
    await expect(get(named, { named, resolve, privateHosts: [entry] })).rejects.toEqual(refused);
  expect(
    await get(`http://hooks.corp.example.:${port}/`, { resolve, privateHosts: ['hooks.corp.example'] }),
  ).toBe('200 ok');
});

test.each([301, 302, 303, 307, 308])('a %i is an answer, and is not followed', async (status) => {
  const { seen, port } = await serve(
    (_, response) => void response.writeHead(status, { location: '/b' }).end(),
  );
  const named = `http://127.0.0.1:${port}/a`;
  const response = await openFetch({ named, privateHosts: [] })(named);
  expect([response.status, response.headers.get('location'), seen.requests]).toEqual([status, '/b', 1]);
});

test('a request and its answer are those of fetch', async () => {
  const { port } = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    const body = Buffer.concat(chunks).toString();
    response.setHeader('set-cookie', ['a=1', 'b=2']).setHeader('content-encoding', 'gzip');
    response.end(gzipSync(JSON.stringify({ method, url, type: headers['content-type'], body })));
  });
  const named = `http://127.0.0.1:${port}/`;
  const send = openFetch({ named, privateHosts: [] });
  const form = new URLSearchParams({ a: 'ü' });
  const response = await send(`${named}p?q=1#f`, { method: 'POST', body: form });
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await response.json()).toEqual({
    method: 'POST',
    url: '/p?q=1',
    type: 'application/x-www-form-urlencoded;charset=UTF-8',
    body: 'a=%C3%BC',
  });
  const asked = new Request(named, { method: 'PUT', body: 'x', headers: { 'content-type': 'text/x' } });
  expect(await (await send(asked)).json()).toMatchObject({ method: 'PUT', type: 'text/x', body: 'x' });
});

test('an aborted request rejects with its reason, and closes its connection', async () => {
  const closed = Promise.withResolvers<void>();
  const { port } = await serve((request, response) => {
    response.write('first');
    request.on('close', closed.resolve);
  });
  const named = `http://127.0.0.1:${port}/`;
  const reason = new Error('enough');
  const before = openFetch({ named, privateHosts: [] })(named, { signal: AbortSignal.abort(reason) });
  await expect(before).rejects.toBe(reason);
  const ending = new AbortController();
  const response = await openFetch({ named, privateHosts: [] })(named, { signal: ending.signal });
  ending.abort(reason);
  await expect(response.text()).rejects.toThrow();
  await closed.promise;
});

test('an entry is a name, an address or a network', () => {
  const entries = ['a.example', '*.corp', 'host_1', '10.0.0.1', '10.0.0.0/8', 'fd00::/8', '::1', '*'];
  expect(entries.filter((entry) => !isHostEntry(entry))).toEqual([]);
  const others = [
    '',
    'http://a',
    'a:80',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'a/8',
    'fd00::/129',
    '[::1]',
    'ü',
  ];
  expect(others.filter(isHostEntry)).toEqual([]);
});

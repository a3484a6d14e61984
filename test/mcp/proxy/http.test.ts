import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../../src/index.ts';
import { proxyOverHttp } from '../../../src/mcp/serve.ts';
import { openKeys } from '../../../src/runtime/gateway/keys.ts';
import { workspace } from '../../workspace.ts';
import { guard, guarded, tool, tools } from './desk.ts';

interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Reply = (asked: Asked, response: ServerResponse) => unknown;

const json = (text: string, headers: Record<string, string> = {}): Reply => {
  return ({ body }, response) => {
    const { id } = JSON.parse(body);
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(text.replace('$ID', JSON.stringify(id)));
  };
};
const stream = (...chunks: readonly string[]): Reply => {
  return async ({ body }, response) => {
    const { id } = body === '' ? { id: 0 } : JSON.parse(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) {
      response.write(chunk.replace('$ID', JSON.stringify(id)));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  };
};

const usual: Readonly<Record<string, Reply>> = {
  'server/discover': json(
    '{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}',
  ),
  'tools/list': json(
    tools(
      tool('echo').replace(
        '{"type":"object"}',
        '{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}',
      ),
    ).replace('"result":{', '"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",'),
  ),
  initialize: json(
    '{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"up","version":"1"}}}',
    { 'mcp-session-id': 'session-1' },
  ),
};

/** The proxy in front of an HTTP server that answers as `replies` says: by the method of the message, or of HTTP. */
async function openHttp(replies: Readonly<Record<string, Reply>>, spec = guarded) {
  const asked: Asked[] = [];
  const upstream = createServer(async (request, response) => {
    const { method = '', headers } = request;
    const body = await textOf(request);
    const message = body === '' ? undefined : JSON.parse(body);
    const name = message?.method ?? (message === undefined ? method : 'response');
    if (!body.includes('signalbox')) asked.push({ method, headers, body });
    const reply = replies[name] ?? usual[name] ?? ((_asked, sent) => sent.writeHead(202).end());
    await reply({ method, headers, body }, response);
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  onTestFinished(() => void upstream.close().closeAllConnections());
  const { port } = upstream.address() as AddressInfo;
  const server = `mcp_servers:\n  - {name: up, url: "http://127.0.0.1:${port}/mcp", headers: {X-Own: "yes"}}\n`;
  const file = `${workspace(`${server}${spec}`, { 'guard.py': guard })}/runtime.yaml`;
  const runtime = await openRuntime(file, { log: false });
  onTestFinished(async () => await runtime.close());
  const { urls, close } = await proxyOverHttp(runtime, { servers: ['up'], listen: '127.0.0.1:0' });
  onTestFinished(close);
  const [url = ''] = urls;
  const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const post = async (body: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    await fetch(url, { method: 'POST', body, headers: { ...accept, ...headers }, ...(signal && { signal }) });
  return {
    asked,
    url,
    post,
    file,
    runtime,
    close,
    own: () => asked.filter(({ body }) => !body.includes('tools/list')),
  };
}

const meta =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
const modern = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name && { 'mcp-name': name }),
});
const call = (args: string, id = 1) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":${args},${meta}}}`;
const list = (id: number | string = 1) => `{"jsonrpc":"2.0","id":${id},"method":"resources/list"}`;
const initialize =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}';
const said =
  '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}],"resultType":"complete"}}';
const message = (data: string) =>
  `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${data}"}}`;
const nothing = '{"jsonrpc":"2.0","id":$ID,"result":{"resources":[]}}';

test('credentials, cookies and addresses pass in neither direction', async () => {
  const headers = { 'www-authenticate': 'Bearer x', 'set-cookie': 'a=b', 'x-own': 'no', 'retry-after': '3' };
  const { own, post } = await openHttp({ 'resources/list': json(nothing, headers) });
  const secret = {
    authorization: 'Bearer sbx_none',
    cookie: 'a=b',
    'x-forwarded-for': '1.2.3.4',
    'x-other': 'x',
  };
  expect((await post(list(), secret)).status).toBe(401);
  const { authorization: _a, 'x-forwarded-for': _b, ...rest } = secret;
  const response = await post(list(), { ...rest, traceparent: '00-1-1-00', 'x-own': 'mine' });
  expect(await response.text()).toBe(nothing.replace('$ID', '1'));
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/json',
    'retry-after': '3',
  });
  expect([...response.headers.keys()].filter((name) => /authenticate|cookie|own/.test(name))).toEqual([]);
  const [sent] = own();
  expect(sent?.headers).toMatchObject({ traceparent: '00-1-1-00', 'x-own': 'yes' });
  expect(
    Object.keys(sent?.headers ?? {}).filter((name) => /authorization|cookie|forwarded|other/.test(name)),
  ).toEqual([]);
});

test('neither side reads a text by a charset that the hooks did not use', async () => {
  const { own, post } = await openHttp({
    'resources/list': (_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-7' });
      response.end(`data: ${nothing.replace('$ID', '1')}\n\n`);
    },
  });
  const response = await post(list(), { 'content-type': 'application/json; charset=utf-7' });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  await response.text();
  expect(own()[0]?.headers['content-type']).toBe('application/json');
});

test('a caller without a session resumes no stream, which could be of another caller', async () => {
  const { asked, url } = await openHttp({ GET: stream('id: 2\ndata: \n\n') });
  const response = await fetch(url, { headers: { accept: 'text/event-stream', 'last-event-id': '1' } });
  await response.text();
  expect(asked.at(-1)).toMatchObject({ method: 'GET' });
  expect(asked.at(-1)?.headers).not.toHaveProperty('last-event-id');
});

test('the headers of a call follow what a hook rewrites', async () => {
  const { own, post } = await openHttp({ 'tools/call': json(said) });
  const headers = { ...modern('tools/call', 'echo'), 'mcp-param-region': 'SECRET', 'mcp-param-other': 'x' };
  expect(await (await post(call('{"region":"SECRET"}'), headers)).text()).toBe(said.replace('$ID', '1'));
  const [sent] = own();
  expect(JSON.parse(sent?.body ?? '').params.arguments).toEqual({ region: '[hidden]' });
  expect(sent?.headers).toMatchObject({
    'mcp-method': 'tools/call',
    'mcp-name': 'echo',
    'mcp-param-region': '[hidden]',
  });
  expect(sent?.headers['mcp-param-other']).toBeUndefined();
});

test.each([
  ['the method', { 'mcp-method': 'resources/list' }],
  ['the name', { 'mcp-name': 'other' }],
  ['a parameter', { 'mcp-param-region': 'north' }],
  ['a parameter in base64', { 'mcp-param-region': `=?base64?${Buffer.from('north').toString('base64')}?=` }],
])('a header that says something else than the message is refused: %s', async (_title, wrong) => {
  const { own, post } = await openHttp({ 'tools/call': json(said) });
  const headers = { ...modern('tools/call', 'echo'), 'mcp-param-region': 'south', ...wrong };
  const response = await post(call('{"region":"south"}'), headers);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ id: 1, error: { code: -32020 } });
  expect(own()).toEqual([]);
});

test.each(['\n', '\r\n', '\r'])(
  'a stream passes event by event, with IDs and the retry (%j)',
  async (newline) => {
    const events = [
      'id: 1',
      'retry: 50',
      'data: ',
      '',
      ': ping',
      '',
      'event: message',
      'id: 2',
      `data: ${message('FORBIDDEN')}`,
      '',
      'id: 3',
      `data: ${message('a SECRET')}`,
      '',
      'event: endpoint',
      'data: /elsewhere',
      '',
      'id: 4',
      'data: {"jsonrpc":"2.0","id":77,',
      'data: "result":{}}',
      '',
      'id: 5',
      'data: {"jsonrpc":"2.0", "id":1,',
      'data:  "result":{"resources":[]}}',
      '',
      '',
    ].join(newline);
    const { post } = await openHttp({ 'resources/list': stream(...(events.match(/.{1,7}/gs) ?? [])) });
    const response = await post(list());
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe(
      [
        'id: 1\nretry: 50\ndata: \n\n',
        ':\n\n',
        'id: 2\n\n',
        `id: 3\ndata: ${message('a [hidden]')}\n\n`,
        ':\n\n',
        'id: 4\n\n',
        'id: 5\ndata: {"jsonrpc":"2.0", "id":1,\ndata:  "result":{"resources":[]}}\n\n',
      ].join(''),
    );
  },
);

test('a session belongs to the caller that began it, and ends with DELETE', async () => {
  const { post, url, file, own } = await openHttp(
    { 'resources/list': json(nothing) },
    `${guarded}mcp: {auth: {required: true}}\n`,
  );
  const keys = await openKeys(file);
  onTestFinished(async () => await keys.close());
  const [ann, bob] = await Promise.all(
    ['ann', 'bob'].map(async (name) => ({
      authorization: `Bearer ${(await keys.create({ name, tools: ['*'] })).key}`,
    })),
  );
  const opened = await post(initialize, ann);
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  expect(session['mcp-session-id']).toBe('session-1');
  expect((await post(list(), { ...session, ...bob })).status).toBe(404);
  expect((await post(list(), { 'mcp-session-id': 'session-2', ...ann })).status).toBe(404);
  expect((await post(list(), { ...session, ...ann })).status).toBe(200);
  const end = async (who: object) =>
    (await fetch(url, { method: 'DELETE', headers: { ...session, ...who } })).status;
  expect([await end(bob ?? {}), await end(ann ?? {}), await end(ann ?? {})]).toEqual([404, 202, 404]);
  expect(own().map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE']);
});

test('a key that is limited to some tools sees and calls only these', async () => {
  const { post, file, own } = await openHttp(
    { 'tools/call': json(said) },
    `${guarded}mcp: {auth: {required: true}}\n`,
  );
  const keys = await openKeys(file);
  onTestFinished(async () => await keys.close());
  const { key } = await keys.create({ name: 'ann', tools: ['up__other'] });
  const headers = { authorization: `Bearer ${key}` };
  const shown = await (
    await post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{${meta}}}`, headers)
  ).json();
  expect(shown).toMatchObject({ result: { tools: [] } });
  expect(await (await post(call('{}'), headers)).text()).toContain('may not call up__echo');
  expect(await (await post(list(), headers)).text()).toContain('may not call up__resources/list');
  expect(own()).toEqual([]);
});

test('the answer to a request of a session may come on another stream', async () => {
  const answer = nothing.replace('$ID', '"a"');
  const { post, url, asked } = await openHttp({
    'resources/list': stream('id: 7\ndata: \n\n'),
    GET: stream(`id: 8\ndata: ${answer}\n\n`, `id: 9\ndata: ${answer}\n\n`),
  });
  await post(initialize);
  const session = { 'mcp-session-id': 'session-1' };
  expect(await (await post(list('"a"'), session)).text()).toBe('id: 7\ndata: \n\n');
  const resumed = await fetch(url, {
    headers: { ...session, accept: 'text/event-stream', 'last-event-id': '7' },
  });
  expect(await resumed.text()).toBe(`id: 8\ndata: ${answer}\n\nid: 9\n\n`);
  expect(asked.at(-1)).toMatchObject({ method: 'GET', headers: { 'last-event-id': '7' } });
});

const status = (code: number, type: string, body: string, headers: object = {}): Reply => {
  return (_asked, response) => response.writeHead(code, { 'content-type': type, ...headers }).end(body);
};

test.each([
  ['a challenge', status(401, 'application/json', '{}', { 'www-authenticate': 'Bearer' }), 200],
  ['a refusal', status(403, 'application/json', '{}', { 'www-authenticate': 'Bearer' }), 502],
  ['a page', status(500, 'text/html', '<p>FORBIDDEN</p>'), 500],
  ['a redirect', status(302, 'text/plain', '', { location: 'http://127.0.0.1:1/' }), 200],
  ['no JSON', status(200, 'application/json', '{"jsonrpc"'), 200],
  ['another answer', status(200, 'application/json', '{"jsonrpc":"2.0","id":9,"result":{}}'), 200],
  ['a batch', status(200, 'application/json', '[{"jsonrpc":"2.0","id":1,"result":{}}]'), 200],
  [
    'two results',
    status(200, 'application/json', '{"jsonrpc":"2.0","id":1,"result":{},"result":{"a":1}}'),
    200,
  ],
  ['nothing', status(202, 'text/plain', ''), 202],
  ['a stream that ends', stream(`data: ${message('x')}\n\n`), 200],
  [
    'a stream that is cut',
    (_asked, response) =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('data: {', () => response.destroy()),
    200,
  ],
  ['a cut connection', (_asked, response) => response.destroy(), 200],
] as [string, Reply, number][])(
  'an upstream that answers with %s gives an error',
  async (_title, reply, code) => {
    const { post } = await openHttp({ 'resources/list': reply, 'tools/call': reply });
    const response = await post(list());
    expect(response.status).toBe(code);
    const text = await response.text();
    expect(text).toMatch(/"id":1,"error":\{"code":-32010,"message":"\[[A-Z_]+\] /);
    expect(text).not.toContain('FORBIDDEN');
    expect(await (await post(call('{}'))).text()).toContain('"isError":true');
  },
);

test('the error of a session that is gone tells the client to begin again', async () => {
  const gone = '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}';
  const { post } = await openHttp({ 'resources/list': status(404, 'application/json', gone) });
  await post(initialize);
  const response = await post(list(), { 'mcp-session-id': 'session-1' });
  expect([response.status, await response.json()]).toEqual([404, { ...JSON.parse(gone), id: 1 }]);
});

test.each([
  ['a batch', `[${list()}]`, {}, 400],
  ['no JSON', '{', {}, 400],
  ['a text', list(), { 'content-type': 'text/plain' }, 415],
  ['a member twice', list().replace('{', '{"method":"ping",'), {}, 400],
  ['an unknown member', list().replace('{', '{"Method":"ping",'), {}, 400],
  ['9 MB', `${list().slice(0, -1)},"params":{"a":"${'x'.repeat(9_000_000)}"}}`, {}, 413],
] as [string, string, Record<string, string>, number][])(
  'a client that sends %s is refused',
  async (_title, body, headers, code) => {
    const { post, own } = await openHttp({});
    expect((await post(body, headers)).status).toBe(code);
    expect(own()).toEqual([]);
  },
);

test('a page of another site cannot use the proxy', async () => {
  const { post, own } = await openHttp({});
  expect((await post(list(), { origin: 'http://evil.example' })).status).toBe(403);
  expect(own()).toEqual([]);
});

test('a client of 2026 that leaves ends its request at the upstream', async () => {
  const left = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { post } = await openHttp({
    'tools/call': (_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${message('begun')}\n\n`);
      response.on('close', left.resolve);
      begun.resolve();
    },
  });
  const leaving = new AbortController();
  const response = await post(call('{}'), modern('tools/call', 'echo'), leaving.signal);
  await begun.promise;
  leaving.abort();
  await left.promise;
  await expect(response.text()).rejects.toThrow();
});

test('many clients at once get their own answers', async () => {
  const { post } = await openHttp({
    'tools/call': async (asked, response) => {
      const { id, params } = JSON.parse(asked.body);
      const content = [{ type: 'text', text: params.arguments.who }];
      await new Promise((resolve) => setTimeout(resolve, 20 * Math.random()));
      await json(JSON.stringify({ jsonrpc: '2.0', id, result: { content } }))(asked, response);
    },
  });
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_each, who) =>
      JSON.parse(await (await post(call(`{"who":"client ${who}"}`, 1))).text()),
    ),
  );
  expect(answers.map(({ result }) => result.content[0].text)).toEqual(
    Array.from({ length: 40 }, (_each, who) => `client ${who}`),
  );
});

test('a request of the upstream that is denied is answered at the upstream', async () => {
  const ask = (id: number, text: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"elicitation/create","params":{"message":"${text}","requestedSchema":{"type":"object","properties":{}}}}`;
  const { post, own } = await openHttp({
    'resources/list': stream(
      `data: ${ask(5, 'FORBIDDEN')}\n\n`,
      `data: ${ask(6, 'fine')}\n\n`,
      `data: ${nothing}\n\n`,
    ),
  });
  await post(initialize);
  const session = { 'mcp-session-id': 'session-1' };
  expect(await (await post(list(), session)).text()).toBe(
    `:\n\ndata: ${ask(6, 'fine')}\n\ndata: ${nothing.replace('$ID', '1')}\n\n`,
  );
  const accepted = '{"jsonrpc":"2.0","id":6,"result":{"action":"accept","content":{}}}';
  expect((await post(accepted, session)).status).toBe(202);
  expect((await post(accepted, session)).status).toBe(202);
  await expect.poll(() => own().length).toBe(4);
  const bodies = own()
    .slice(2)
    .map(({ body }) => body);
  expect(bodies).toContain(accepted);
  expect(bodies.find((body) => body !== accepted)).toContain('"id":5,"error":{"code":-32010');
});

const needs = (message: string, method = 'elicitation/create') =>
  `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required", "inputRequests":{"k":{"method":"${method}","params":{"message":"${message}","n":1.0}}},"requestState":"s"}}`;

test.each(['tools/call', 'prompts/get'])(
  'what an upstream of 2026 asks for, and what a client answers, is judged (%s)',
  async (method) => {
    let asks = needs('fine');
    const { post, own } = await openHttp({
      [method]: async (asked, response) => await json(asks)(asked, response),
    });
    const request = (id: number, more = '') =>
      `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{"name":"echo","arguments":{}${more},${meta}}}`;
    const answer = async (id: number, more = '') =>
      await (await post(request(id, more), modern(method, 'echo'))).text();
    expect(await answer(1)).toBe(needs('fine').replace('$ID', '1'));
    asks = needs('a SECRET');
    expect(JSON.parse(await answer(2)).result.inputRequests.k.params).toEqual({
      message: 'a [hidden]',
      n: 1,
    });
    asks = needs('FORBIDDEN');
    expect(await answer(3)).toContain('forbidden');
    asks = needs('fine', 'sampling/createMessage');
    expect(await answer(4)).toContain('is not passed');
    const sent = own().length;
    const inputs = (text: string) =>
      `,"requestState":"s","inputResponses":{"k":{"action":"accept","content":{"a":"${text}"}}}`;
    expect(await answer(5, inputs('FORBIDDEN'))).toContain('forbidden');
    expect(own()).toHaveLength(sent);
    asks = needs('fine');
    expect(await answer(6, inputs('fine'))).toBe(needs('fine').replace('$ID', '6'));
    expect(own().at(-1)?.body).toBe(request(6, inputs('fine')));
    await answer(7, inputs('a SECRET'));
    expect(JSON.parse(own().at(-1)?.body ?? '').params.inputResponses.k.content).toEqual({ a: 'a [hidden]' });
  },
);

test('hooks of elicitation hold for questions and answers of 2026, too', async () => {
  const spec = guarded.replace('hook: tool,', 'hook: tool, match: {tools: ["up__elicitation/create"]},');
  let asks = needs('FORBIDDEN');
  const { post } = await openHttp(
    { 'tools/call': async (asked, response) => await json(asks)(asked, response) },
    spec,
  );
  expect(await (await post(call('{"a":"FORBIDDEN"}'))).text()).toContain(
    'blocked by hook \\"guard\\": forbidden',
  );
  asks = said;
  const inputs = '{"a":1},"inputResponses":{"k":{"action":"accept","content":{"a":"FORBIDDEN"}}}';
  expect(await (await post(call(inputs, 2))).text()).toContain('blocked by hook');
  expect(await (await post(call('{"a":"FORBIDDEN"}', 3))).text()).toContain('fine');
});

test('the proxy and its runtime end while clients and the upstream hang', async () => {
  const begun = Promise.withResolvers<void>();
  const hang: Reply = (_asked, response) => {
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write('id: 1\ndata: \n\n', () => begun.resolve());
  };
  const { post, runtime, close } = await openHttp({ 'tools/call': hang, GET: hang });
  await post(initialize);
  const session = { 'mcp-session-id': 'session-1' };
  const leaving = new AbortController();
  await post(call('{}'), session, leaving.signal);
  await begun.promise;
  leaving.abort();
  const open = await post(call('{}', 2), session);
  await close();
  await open.text().catch(() => {});
  await expect(runtime.close()).resolves.toBeUndefined();
});

const places = [
  'capabilities',
  'instructions',
  'tools',
  'inputRequests',
  'resultType',
  'contents',
  'messages',
  '_meta',
];
const kept = fc.constantFrom(
  'input_required',
  'complete',
  'text',
  {},
  [],
  null,
  { k: 'x' },
  [{ type: 'image' }],
  { k: { method: 1 } },
);
const anyResult = fc.dictionary(fc.constantFrom(...places), fc.oneof(kept, fc.jsonValue()));

test('whatever an upstream puts where, a client gets one answer', async () => {
  let reply = '';
  const answers = (asked: Asked, response: ServerResponse) => json(reply)(asked, response);
  const methods = [
    'initialize',
    'server/discover',
    'tools/list',
    'tools/call',
    'resources/read',
    'prompts/get',
  ];
  const own = methods.filter((method) => !(method in usual));
  const { post } = await openHttp(Object.fromEntries(own.map((method) => [method, answers])));
  const samples = fc.sample(anyResult, { numRuns: 60, seed: 31 });
  const request = (method: string, id: number) =>
    `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{"name":"echo","uri":"a:b",${meta}}}`;
  for (const [index, sample] of samples.entries()) {
    reply = `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(sample)}}`;
    const method = own[index % own.length] ?? '';
    const body = method === 'tools/call' ? call('{}', index) : request(method, index);
    const answer = JSON.parse(await (await post(body)).text());
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: index });
    expect('result' in answer || 'error' in answer).toBe(true);
  }
});

test.each([
  ['initialize', '{"protocolVersion":"x","capabilities":[1],"instructions":{"a":1}}'],
  ['tools/list', '{"tools":[null,[],"x",{"name":[]},{"name":"echo"}]}'],
])('a result of %s in a wrong form is no way around', async (method, text) => {
  const { post } = await openHttp({
    [method]: (asked, response) =>
      json(
        asked.body.includes('signalbox') || !asked.body.includes('"id":31')
          ? '{"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"protocolVersion":"2025-11-25","capabilities":{}}}'
          : `{"jsonrpc":"2.0","id":$ID,"result":${text}}`,
      )(asked, response),
  });
  const answer = JSON.parse(
    await (await post(`{"jsonrpc":"2.0","id":31,"method":"${method}","params":{}}`)).text(),
  );
  expect(answer.result ?? {}).not.toHaveProperty('instructions');
  expect(answer.result?.tools ?? []).toEqual([]);
});

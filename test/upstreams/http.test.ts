import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { stringifyJson } from '../../src/base/json/json.ts';
import { serveOverHttp } from '../../src/mcp/serve.ts';
import { open } from '../runtime/open.ts';

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void;

async function listen(answer: Answer) {
  const requests: { method: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    requests.push({ method: request.method ?? '', headers: request.headers, body });
    answer(request, body, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, requests };
}

const digits =
  '"content": [{"type": "text", "text": "é"}], "structuredContent": {"n": 12345678901234567890, "f": 1.10}';

/** A server of 2025-06-18 with sessions. `form`: how it sends its answers. `replies`: its answers to tools/call. */
function legacy(form: 'json' | 'sse', replies: readonly ((id: number) => string)[]): Answer {
  let session = 0;
  let calls = 0;
  return (request, body, response) => {
    const send = (text: string, headers = {}) => {
      const type = form === 'json' ? 'application/json' : 'text/event-stream; charset=utf-8';
      response.writeHead(200, { 'content-type': type, ...headers });
      if (form === 'json') response.end(text);
      else {
        // A line break inside of JSON is two data lines, and chunks end anywhere.
        const event = `: hello\r\nid: 1\r\ndata: ${text.replace(', ', ',\r\ndata: ')}\r\n\r\n`;
        for (const part of event.match(new RegExp(`[^]{1,${text.length > 1000 ? 100_000 : 7}}`, 'g')) ?? [])
          response.write(part);
        response.end();
      }
    };
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    if (method === 'initialize') {
      session += 1;
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      };
      return send(JSON.stringify({ jsonrpc: '2.0', id, result }), { 'mcp-session-id': `s${session}` });
    }
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'tools/list') {
      const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
      return send(JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }));
    }
    if (method !== 'tools/call')
      return send(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
    calls += 1;
    if (params.arguments.forget === true && request.headers['mcp-session-id'] === 's1')
      return response.writeHead(404).end('no such session');
    send((replies[calls - 1] ?? replies.at(-1))?.(id) ?? '');
  };
}

const good = (id: number) => `{"jsonrpc": "2.0", "id": ${id}, "result": {${digits}}}`;

async function openDesk(url: string, more = '') {
  return await open(`mcp_servers: [{name: desk, url: "${url}", timeout_ms: 2000, ${more}}]`, {
    env: { TENANT: 'SECRET-TENANT' },
  });
}

test.each(['json', 'sse'] as const)('digits and spelling survive HTTP in the form of %s', async (form) => {
  const { url, requests } = await listen(legacy(form, [good]));
  const { runtime } = await openDesk(url, 'headers: {X-Tenant: "${env:TENANT}"}');
  const document = await runtime.tools.call('desk__echo', '{"a": 12345678901234567890, "b":1.10}');
  expect(stringifyJson(document)).toContain(
    `{"n": 12345678901234567890,${form === 'json' ? ' ' : '\n'}"f": 1.10}`.replace('\n', ' '),
  );
  const call = requests.find(({ body }) => body.includes('tools/call'));
  expect(call?.body).toContain('"arguments":{"a": 12345678901234567890, "b":1.10}');
  expect(call?.headers).toMatchObject({
    'x-tenant': 'SECRET-TENANT',
    'mcp-session-id': 's1',
    'mcp-protocol-version': '2025-06-18',
  });
  await runtime.close();
  expect(requests.at(-1)?.method).toBe('DELETE');
});

test('a server that has forgotten the session is connected again, and the call is made once', async () => {
  const { url, requests } = await listen(legacy('json', [good]));
  const { runtime } = await openDesk(url);
  expect(await runtime.tools.call('desk__echo', '{"forget": true}')).toMatchObject({ status: 'ok' });
  expect(requests.filter(({ body }) => body.includes('"initialize"'))).toHaveLength(2);
});

test('a stream that breaks before its answer is resumed after its last event', async () => {
  let id = 0;
  const usual = legacy('sse', [good]);
  const { url, requests } = await listen((request, body, response) => {
    const start = { 'content-type': 'text/event-stream' };
    if (request.headers['last-event-id'] === '7')
      return response.writeHead(200, start).end(`id: 8\ndata: ${good(id)}\n\n`);
    if (!body.includes('tools/call')) return usual(request, body, response);
    id = JSON.parse(body).id;
    response.writeHead(200, start).end('id: 7\nretry: 1\ndata: \n\n');
  });
  const { runtime } = await openDesk(url);
  expect(await runtime.tools.call('desk__echo', '{}')).toMatchObject({ status: 'ok' });
  expect(requests.filter(({ body }) => body.includes('tools/call'))).toHaveLength(1);
});

const faults: Readonly<Record<string, { answer: Answer; code: string; says?: string }>> = {
  'answers with 401': {
    answer: (_request, _body, response) => response.writeHead(401).end(),
    code: 'LOGIN_REQUIRED',
    says: 'requires authentication',
  },
  'answers with a redirect': {
    answer: (_request, _body, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    code: 'REPLY_MALFORMED',
    says: 'redirect',
  },
  'answers with a page': {
    answer: (_request, _body, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    code: 'REPLY_MALFORMED',
  },
  'never answers': { answer: () => {}, code: 'PROCESS_TIMEOUT' },
  'hangs up': { answer: (request) => request.socket.destroy(), code: 'PROCESS_START' },
  'never ends a message': {
    answer: legacy('json', [
      (id) => `{"jsonrpc": "2.0", "id": ${id}, "result": {"content": ["${'x'.repeat(12 * 2 ** 20)}"]}}`,
    ]),
    code: 'OUTPUT_LIMIT',
  },
  'never ends an event': {
    answer: legacy('sse', [
      (id) => `{"jsonrpc": "2.0", "id": ${id}, "result": {"content": ["${'x'.repeat(12 * 2 ** 20)}"]}}`,
    ]),
    code: 'OUTPUT_LIMIT',
  },
  'answers another request': { answer: legacy('json', [(id) => good(id + 7)]), code: 'PROCESS_TIMEOUT' },
  'answers with no JSON': { answer: legacy('json', [() => '{']), code: 'REPLY_MALFORMED' },
  'answers with an error': {
    answer: legacy('sse', [
      (id) => `{"jsonrpc": "2.0", "id": ${id}, "error": {"code": -32000, "message": "busy"}}`,
    ]),
    code: 'TOOL_ERROR',
    says: 'busy',
  },
};

test.each(Object.entries(faults))('a server that %s', async (_title, { answer, code, says = '' }) => {
  const { url } = await listen(answer);
  const { runtime } = await openDesk(url, 'headers: {X-Tenant: "${env:TENANT}"}');
  const document = await runtime.tools.call('desk__echo');
  expect(document).toMatchObject({ status: 'failed', error: { code } });
  expect(JSON.stringify(document)).toContain(says);
  expect(JSON.stringify(document)).not.toContain('SECRET-TENANT');
});

test('Signalbox in front of Signalbox, in the era of 2026', async () => {
  const back = await open(
    `
tools:
  t:
    mcp: {result: content}
    input_schema: {type: object, properties: {n: {type: integer}}}
    output_schema: {type: object, properties: {n: {type: integer}}}
    exec: {command: cat, args: [reply.json]}`,
    {},
    { 'reply.json': `{"result": {${digits}}}` },
  );
  const served = await serveOverHttp(back.runtime, { tools: undefined, version: '1', listen: '127.0.0.1:0' });
  onTestFinished(() => served.close());
  const { runtime } = await openDesk(served.url);
  expect(await runtime.tools.call('desk__t', '{"n": 1}')).toMatchObject({
    result: { content: [{ type: 'text', text: 'é' }] },
  });
  expect(await runtime.tools.call('desk__t', { n: 'x' })).toMatchObject({ error: { code: 'ARGS_INVALID' } });
});

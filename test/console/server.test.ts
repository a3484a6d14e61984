import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { declarations, toOpenApi } from '../../src/console/api/openapi.ts';
import type { Endpoint } from '../../src/console/api/schema.ts';
import { renderApiReference } from '../tools/api-reference.ts';
import { fixture } from '../workspace.ts';
import { keysOf, type Reply, send, serve } from './serving.ts';

const spec = `tools: {refund: {approval: required, exec: {command: ${fixture('echo-args')}}}}\n`;

const endpoints = declarations.flatMap((group) => Object.entries<Endpoint>(group));
const places = endpoints.map(([key, endpoint]) => ({
  ...endpoint,
  key,
  route: key.replaceAll(/\{\w+\}/g, 'x'),
}));

test('without keys, the address has a token, which is the user of this machine', async () => {
  const { ask, folder } = await serve('decisions: {content: true}');
  expect(await ask('GET /me')).toMatchObject({
    status: 200,
    body: {
      id: 'local',
      name: 'ada',
      sections: ['inbox', 'runs', 'evals', 'guard'],
      runtime: { name: 'desk', config: `${folder}/runtime.yaml` },
      version: '1.2.3',
      records: { decisions: true, content: true, audit: false },
    },
  });
});

test('the token differs per start, and counts for its own only', async () => {
  const [one, other] = [await serve(spec), await serve(spec)];
  expect(one.token).toMatch(/^[\w-]{32}$/);
  expect(other.token).not.toBe(one.token);
  expect(await one.ask('GET /me', { key: other.token })).toMatchObject({ status: 401 });
});

test('with a key that can read waiting calls, the address has no token, and an older token no longer counts', async () => {
  const first = await serve(spec);
  const keys = await keysOf(first.folder);
  await keys.create({ name: 'agent', tools: ['*'] });
  expect((await again(first)).url).toContain('#key=');
  expect(await first.ask('GET /me')).toMatchObject({ status: 200 });
  const { key } = await keys.create({ name: 'mara', role: 'approver' });
  expect(await first.ask('GET /me')).toMatchObject({ status: 401 });
  const { url } = await again(first);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console$/);
  const me = `${url.replace('/console', '')}/api/v1/me`;
  expect(await send(me, 'GET')).toMatchObject({ status: 401 });
  expect(await send(me, 'GET', { headers: { authorization: `Bearer ${key}` } })).toMatchObject({
    status: 200,
    body: {
      name: 'mara',
      scopes: ['pendings:read', 'pendings:decide', 'runs:read', 'evals:rate'],
      sections: ['inbox', 'runs', 'evals', 'guard'],
    },
  });
});

async function again({ runtime }: Pick<Awaited<ReturnType<typeof serve>>, 'runtime'>) {
  const { serveConsole } = await import('../../src/console/serve.ts');
  const served = await serveConsole(runtime, { listen: '127.0.0.1:0', userName: 'ada', version: '1' });
  onTestFinished(served.close);
  return served;
}

test('every endpoint refuses without a key, with a wrong one, and with one that lacks the scope', async () => {
  const { ask, folder } = await serve(spec);
  const keys = await keysOf(folder);
  const { key } = await keys.create({ name: 'agent', tools: ['*'] });
  for (const { route, scopes } of places) {
    const replies = [null, 'wrong', `${key}x`, key].map(async (each) => await ask(route, { key: each }));
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    const wanted =
      scopes === 'none' ? [200, 200, 200, 200] : [401, 401, 401, scopes.length === 0 ? 200 : 403];
    expect([route, ...statuses]).toEqual([route, ...wanted]);
  }
});

test('a key in the address is refused', async () => {
  const { ask, token } = await serve(spec);
  const refused = { status: 400, body: { error: { code: 'invalid_request' } } };
  expect(await ask(`GET /me?access_token=${token}`)).toMatchObject(refused);
});

const guarding = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

test('every answer has the guarding headers and no cookie, whatever is asked', async () => {
  const { ask, origin } = await serve(spec);
  const check = ({ headers }: Reply, at: string) => {
    const { etag } = headers;
    const wanted = etag === undefined ? guarding : { ...guarding, 'cache-control': 'no-cache' };
    expect([at, headers]).toMatchObject([at, wanted]);
    expect(Object.keys(headers)).not.toContain('set-cookie');
  };
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
  const files = ['console.js', 'console.css', 'report.js', 'report.css', 'icon.svg', 'none.js'];
  const paths = ['/console', '/console/', '/console/inbox/x', ...files.map((name) => `/console/${name}`)];
  const others = [
    '/',
    '/consoles',
    '/api/v1',
    '/api/v1/none',
    '/api/v2/me',
    '/.well-known/oauth-protected-resource',
  ];
  const routes = [...new Set(places.map(({ route }) => `/api/v1${route.split(' ')[1]}`))];
  for (const path of [...paths, ...others, ...routes].filter((each) => !each.endsWith('/changes')))
    for (const method of methods) check(await send(`${origin}${path}`, method), `${method} ${path}`);
  for (const { route } of places.filter(({ response }) => !('stream' in response)))
    check(await ask(route, route.startsWith('POST') ? { body: {} } : {}), route);
});

test('nothing exists outside the declarations and the files', async () => {
  const { ask, origin } = await serve(spec);
  const unknown = { status: 404, body: { error: { code: 'not_found' } } };
  await fc.assert(
    fc.asyncProperty(fc.webPath(), async (path) => {
      const isPage = /^\/console(\/|$)/.test(new URL(`http://x${path}`).pathname);
      if (!isPage) expect(await send(`${origin}${path}`, 'GET')).toMatchObject(unknown);
    }),
    { numRuns: 50 },
  );
  for (const path of ['/none', '/pendings/x/none', '/pendings/', '/me/', '//me', '/pendings//decision'])
    expect(await ask(`GET ${path}`)).toMatchObject(unknown);
  expect(await ask('GET /pendings/..%2f..%2fme')).toMatchObject({ body: { error: { code: 'RUN_UNKNOWN' } } });
});

test('a wrong method is 405, with those that are right', async () => {
  const { ask } = await serve(spec);
  const refused = { status: 405, body: { error: { code: 'method_not_allowed' } } };
  expect(await ask('DELETE /pendings')).toMatchObject({ ...refused, headers: { allow: 'GET' } });
  expect(await ask('GET /pendings/x/decision')).toMatchObject({ ...refused, headers: { allow: 'POST' } });
  expect(await ask('POST /console')).toMatchObject({ ...refused, headers: { allow: 'GET, HEAD' } });
});

const own = (host: string) => ({ host, origin: `http://${host}` });
const fetched = (site: string, mode = 'cors', dest = 'empty') => ({
  'sec-fetch-site': site,
  'sec-fetch-mode': mode,
  'sec-fetch-dest': dest,
});

test.each([
  { title: 'a forged Host', headers: () => ({ host: 'evil.example' }), code: 'untrusted_host' },
  { title: 'a Host with another port', headers: () => ({ host: '127.0.0.1:1' }), code: 'untrusted_host' },
  {
    title: 'a foreign Origin',
    headers: () => ({ origin: 'https://evil.example' }),
    code: 'untrusted_origin',
  },
  { title: 'an opaque Origin', headers: () => ({ origin: 'null' }), code: 'untrusted_origin' },
  {
    title: 'the Origin of another port',
    headers: () => ({ origin: 'http://127.0.0.1:1' }),
    code: 'untrusted_origin',
  },
  { title: 'a request of another site', headers: () => fetched('cross-site'), code: 'untrusted_site' },
  { title: 'a request of another port', headers: () => fetched('same-site'), code: 'untrusted_site' },
  {
    title: 'a form of another site',
    headers: () => fetched('cross-site', 'navigate', 'iframe'),
    code: 'untrusted_frame',
  },
  {
    title: 'a frame of this site',
    headers: () => fetched('same-origin', 'navigate', 'iframe'),
    code: 'untrusted_frame',
  },
  {
    title: 'an embedded page',
    headers: () => fetched('cross-site', 'navigate', 'embed'),
    code: 'untrusted_frame',
  },
  {
    title: 'a script of another site',
    headers: () => fetched('cross-site', 'no-cors', 'script'),
    code: 'untrusted_site',
  },
] as const)('$title is refused, for the page and the API', async ({ headers, code }) => {
  const { ask } = await serve(spec);
  for (const route of ['GET /me', 'GET /console', 'GET /console/console.js', 'POST /pendings/decisions'])
    expect(await ask(route, { headers: headers() })).toMatchObject({
      status: 403,
      body: { error: { code } },
    });
});

test('own requests pass, and so does a link from anywhere', async () => {
  const { ask, host } = await serve(spec);
  const passing = [
    own(host),
    own(host.replace('127.0.0.1', 'localhost')),
    fetched('same-origin'),
    fetched('none'),
  ];
  for (const headers of passing) expect(await ask('GET /me', { headers })).toMatchObject({ status: 200 });
  const headers = fetched('cross-site', 'navigate', 'document');
  expect(await ask('GET /console/inbox/x', { headers, key: null })).toMatchObject({ status: 200 });
  expect(await ask('POST /console/inbox/x', { headers, key: null })).toMatchObject({ status: 403 });
});

test('a body of another type is 415, one that is too long 413, and one that is no JSON 400', async () => {
  const { ask } = await serve(`${spec}mcp: {max_message_bytes: 2000}`);
  const route = 'POST /pendings/x/check';
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    '',
  ];
  for (const type of types)
    expect(await ask(route, { text: '{}', headers: { 'content-type': type } })).toMatchObject({
      status: 415,
    });
  const gzip = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  expect(await ask(route, { text: '{}', headers: gzip })).toMatchObject({ status: 415 });
  const long = JSON.stringify({ args: { text: 'x'.repeat(2_000) } });
  expect(await ask(route, { text: long })).toMatchObject({
    status: 413,
    body: { error: { code: 'body_too_large' } },
  });
  expect(await ask(route, { text: long, headers: { 'transfer-encoding': 'chunked' } })).toMatchObject({
    status: 413,
  });
  for (const text of [
    '',
    '{',
    '[]',
    '"x"',
    'null',
    '{"args": {}, "args": {}}',
    '{"args": {"a": 1, "a": 2}}',
    '{"args": \ud800}',
  ])
    expect([text, await ask(route, { text })]).toMatchObject([
      text,
      { status: 400, body: { error: { code: 'USAGE' } } },
    ]);
  const deep = `{"args": ${'['.repeat(990)}${']'.repeat(990)}}`;
  expect(await ask(route, { text: deep })).toMatchObject({ status: 200 });
});

test.each([
  ['GET /pendings?limit=0', 'limit'],
  ['GET /pendings?limit=many', 'limit'],
  ['GET /pendings?limit=1&limit=2', 'limit'],
  ['GET /pendings?status=some', 'status'],
  ['GET /pendings?mine=yes', 'mine'],
  ['GET /pendings?since=yesterday', 'since'],
  ['GET /pendings?__proto__=x', '__proto__'],
  ['GET /pendings?unknown=x', 'unknown'],
  ['GET /changes', 'kinds'],
  ['GET /changes?kinds=pendings,', 'kinds'],
] as const)('%s is 400 with the path %s', async (route, path) => {
  const { ask } = await serve(spec);
  expect(await ask(route)).toMatchObject({ status: 400, body: { error: { code: 'USAGE', path } } });
});

test.each([
  [{}, 'decision'],
  [{ decision: 'approve' }, 'digest'],
  [{ decision: 'maybe', digest: 'x' }, 'decision'],
  [{ decision: 'approve', digest: 1 }, 'digest'],
  [{ decision: 'approve', digest: 'x', by: 'mara' }, 'by'],
  [{ decision: 'approve', digest: 'x', result: 1 }, 'result'],
  [{ decision: 'reject', digest: 'x' }, 'reason'],
  [{ decision: 'reject', digest: 'x', reason: ' ' }, 'reason'],
  [{ decision: 'reject', digest: 'x', reason: 'no', args: {} }, 'args'],
  [{ decision: 'respond', digest: 'x' }, 'result'],
] as const)('the decision %j is 400 with the path %s, alone and in a list', async (body, path) => {
  const { ask } = await serve(spec);
  const refused = (at: string) => ({ status: 400, body: { error: { path: at } } });
  expect(await ask('POST /pendings/x/decision', { body })).toMatchObject(refused(path));
  const decisions = [{ id: 'x', ...body }];
  expect(await ask('POST /pendings/decisions', { body: { decisions } })).toMatchObject(
    refused(`decisions[0].${path}`),
  );
});

test('a store that fails is 503 with retry-after', async () => {
  const { ask, folder } = await serve(spec);
  mkdirSync(`${folder}/.signalbox`);
  writeFileSync(`${folder}/.signalbox/state.db`, 'This is not a database. '.repeat(200));
  const failed = { status: 503, headers: { 'retry-after': '5' }, body: { error: { code: 'STORE_FAILED' } } };
  for (const route of ['GET /pendings', 'GET /pendings/x', 'GET /changes?kinds=pendings'])
    expect(await ask(route)).toMatchObject(failed);
});

test('a time that does not exist is an error without a hint for the command line', async () => {
  const { ask } = await serve(spec);
  for (const route of ['GET /pendings', 'GET /runs', 'GET /decisions', 'GET /audit'])
    expect((await ask(`${route}?since=2016-12-31T23:59:60Z`)).body).toEqual({
      error: { code: 'USAGE', message: '`since` is not a date', path: 'since' },
    });
});

test('beyond loopback, the console needs a public URL and a key', async () => {
  const fails = { code: 'LISTEN_FAILED' };
  await expect(serve(spec, {}, '0.0.0.0:0')).rejects.toMatchObject({
    ...fails,
    message: expect.stringContaining('its name there is unknown'),
  });
  const named = `${spec}console: {public_url: "https://ops.example.com/tools/console"}`;
  await expect(serve(named, {}, '0.0.0.0:0')).rejects.toMatchObject({
    ...fails,
    hint: expect.stringContaining('--role approver'),
  });
  await expect(serve(named)).rejects.toMatchObject(fails);
});

test('behind a proxy, the public URL is the only name from outside, and the page has relative addresses', async () => {
  const named = `${spec}console: {public_url: "https://ops.example.com/tools/console"}`;
  const { folder, runtime } = await serve(spec);
  const keys = await keysOf(folder);
  await keys.create({ name: 'mara', role: 'viewer' });
  writeFileSync(
    `${folder}/runtime.yaml`,
    `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n${named.replaceAll(/^(?=.)/gm, '  ')}`,
  );
  const { openRuntime } = await import('../../src/index.ts');
  const reopened = await openRuntime(`${folder}/runtime.yaml`, { log: false });
  onTestFinished(async () => await reopened.close());
  expect([runtime.console.url, reopened.console.url]).toEqual([
    undefined,
    'https://ops.example.com/tools/console',
  ]);
  const { url } = await again({ runtime: reopened });
  expect(url).toBe('https://ops.example.com/tools/console');
});

test('the page is the same everywhere, below any path', async () => {
  const { origin } = await serve(spec);
  const scripts = async (path: string) => {
    const { text, status } = await send(`${origin}${path}`, 'GET');
    const [, script = ''] = /src="([^"]+)"/.exec(text) ?? [];
    return [status, new URL(script, `https://ops.example.com/tools${path}`).pathname];
  };
  const page = [200, '/tools/console/console.js'];
  for (const path of [
    '/console',
    '/console/',
    '/console/inbox',
    '/console/inbox/x',
    '/console/evals/suites/x',
    '/console/evals/compare',
  ])
    expect(await scripts(path)).toEqual(page);
  expect(await scripts('/console/evals/run_1')).toEqual([200, '/tools/console/report.js']);
  const { headers, status, text } = await send(`${origin}/console/console.js`, 'GET');
  expect([status, headers['content-type'], text.length > 1000]).toEqual([
    200,
    'text/javascript; charset=utf-8',
    true,
  ]);
  const kept = { 'if-none-match': String(headers['etag']) };
  expect(await send(`${origin}/console/console.js`, 'GET', { headers: kept })).toMatchObject({
    status: 304,
    text: '',
  });
});

test('schema/openapi.json and docs/reference/http-api.md are those of the code; `npm run schemas` writes them', () => {
  const root = join(import.meta.dirname, '../..');
  expect(readFileSync(join(root, 'schema/openapi.json'), 'utf8')).toBe(
    `${JSON.stringify(toOpenApi(), null, 2)}\n`,
  );
  expect(readFileSync(join(root, 'docs/reference/http-api.md'), 'utf8')).toBe(renderApiReference());
});

test('the description of the API is valid OpenAPI 3.1, and the same for all', async () => {
  const { ask } = await serve(spec);
  const { body } = await ask('GET /openapi.json', { key: null });
  expect(body).toEqual(JSON.parse(JSON.stringify(toOpenApi())));
  const validator = new Validator();
  expect(await validator.validate(JSON.parse(JSON.stringify(body)))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

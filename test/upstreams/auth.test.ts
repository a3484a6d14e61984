import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime, type Runtime } from '../../src/index.ts';
import { runJson, start, workspace } from '../cli/command-line.ts';
import { browse, type OAuthServer, openOAuthServer } from './oauth-server.ts';

function project(url: string, auth = '{type: login}', more = ''): string {
  return workspace(
    `mcp_servers:\n  - {name: desk, url: '${url}'${auth === '' ? '' : `, auth: ${auth}`}}\n${more}`,
  );
}

async function open(folder: string): Promise<Runtime & { readonly logged: string[] }> {
  const logged: string[] = [];
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), {
    log: { write: (lines) => void logged.push(lines) },
  });
  onTestFinished(() => runtime.close());
  return Object.assign(runtime, { logged });
}

const logIn = async (runtime: Runtime) =>
  await runtime.upstreams.login('desk', { onUrl: (page) => void browse(page) });
const look = async (runtime: Runtime) => await runtime.tools.call('desk__look', {});
const fileOf = (folder: string) => join(folder, '.signalbox/mcp/desk.json');
const sent = ({ requests }: OAuthServer, what: string) => requests.filter((each) => each.what === what);

test('a login gives a token for this server, which only the owner of the file can read', async () => {
  const server = await openOAuthServer();
  const folder = project(server.url);
  const runtime = await open(folder);
  expect(await look(runtime)).toMatchObject({
    status: 'failed',
    error: { code: 'LOGIN_REQUIRED', hint: "Run `signalbox mcp login desk --scope 'read'`." },
  });
  expect(await logIn(runtime)).toEqual({ server: 'desk', scope: 'read' });
  expect(await look(runtime)).toMatchObject({ status: 'ok' });
  expect(statSync(fileOf(folder)).mode & 0o777).toBe(0o600);
  const [authorize, token] = ['GET /authorize', 'POST /token'].map((what) => sent(server, what)[0]?.params);
  expect(authorize?.get('code_challenge_method')).toBe('S256');
  expect([authorize?.get('resource'), token?.get('resource')]).toEqual([server.url, server.url]);
  expect(authorize?.get('state')).toMatch(/^[\w-]{43}$/);
  // The token goes to the server, and to no other address.
  const withToken = server.requests.filter(({ authorization }) => authorization?.startsWith('Bearer '));
  expect(new Set(withToken.map(({ what }) => what))).toEqual(new Set(['POST /mcp', 'GET /mcp']));
});

test('two runtimes whose token has expired use the refresh token once', async () => {
  const server = await openOAuthServer();
  const folder = project(server.url);
  const runtimes = [await open(folder), await open(folder)];
  for (const runtime of runtimes) {
    if (runtime === runtimes[0]) await logIn(runtime);
    await look(runtime);
  }
  server.expire();
  const documents = await Promise.all([...runtimes, ...runtimes].map(look));
  expect(documents.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok']);
  const refreshes = sent(server, 'POST /token').filter(
    ({ params }) => params.get('grant_type') === 'refresh_token',
  );
  expect(refreshes.map(({ params }) => params.get('resource'))).toEqual([server.url]);
});

test('tokens are used for the URL that they were made for only', async () => {
  const [one, other] = [await openOAuthServer(), await openOAuthServer()];
  const folder = project(one.url);
  await logIn(await open(folder));
  const config = join(folder, 'runtime.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replace(one.url, other.url));
  expect(await look(await open(folder))).toMatchObject({ error: { code: 'LOGIN_REQUIRED' } });
  expect(other.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
});

test('a damaged file is an error that names it, and a new login replaces it', async () => {
  const server = await openOAuthServer();
  const folder = project(server.url);
  await logIn(await open(folder));
  for (const damaged of ['', '{"url": "x"}', '{"tokens": {"access_token": 1}}', '\0\xff']) {
    writeFileSync(fileOf(folder), damaged);
    expect(await look(await open(folder))).toMatchObject({
      error: {
        code: 'FILE_UNREADABLE',
        message: `${fileOf(folder)} does not contain the tokens of a login`,
        hint: 'Run `signalbox mcp login desk` again.',
      },
    });
  }
  const runtime = await open(folder);
  await logIn(runtime);
  expect(await look(runtime)).toMatchObject({ status: 'ok' });
});

test('logout removes the token', async () => {
  const server = await openOAuthServer();
  const folder = project(server.url);
  await logIn(await open(folder));
  expect((await runJson('mcp logout desk', { cwd: folder })).document).toEqual({
    server: 'desk',
    removed: true,
  });
  expect((await runJson('mcp logout desk', { cwd: folder })).document).toEqual({
    server: 'desk',
    removed: false,
  });
  expect(await look(await open(folder))).toMatchObject({ error: { code: 'LOGIN_REQUIRED' } });
});

test.each<[string, (server: OAuthServer) => void, RegExp]>([
  [
    'a person refuses',
    ({ answer }) => Object.assign(answer, { error: 'access_denied' }),
    /answered: access_denied/,
  ],
  [
    'another issuer answers',
    ({ answer }) => Object.assign(answer, { iss: 'https://evil.example' }),
    /issuer/i,
  ],
  [
    'the code is wrong',
    ({ answer }) => Object.assign(answer, { code: 'x' }),
    /invalid_grant|gave no token|no token/,
  ],
  [
    'the login page is no web page',
    ({ metadata }) => Object.assign(metadata, { authorization_endpoint: 'file:///etc/passwd' }),
    /failed|gave no token/,
  ],
  [
    'the metadata is that of another issuer',
    ({ metadata }) => Object.assign(metadata, { issuer: 'https://evil.example' }),
    /issuer/i,
  ],
  [
    'the resource is another server',
    ({ resource }) => Object.assign(resource, { resource: 'https://evil.example/mcp' }),
    /does not match/,
  ],
])('no token is kept if %s', async (_title, change, says) => {
  const server = await openOAuthServer();
  change(server);
  const folder = project(server.url);
  const runtime = await open(folder);
  await expect(logIn(runtime)).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    message: expect.stringMatching(says),
  });
  expect(existsSync(fileOf(folder))).toBe(false);
});

test('an answer without the state of this login changes nothing', async () => {
  const server = await openOAuthServer();
  const pages: string[] = [];
  const runtime = await open(project(server.url));
  const onUrl = async (page: string) => {
    const back = new URL(new URL(page).searchParams.get('redirect_uri') ?? '');
    for (const query of ['?code=x', '?code=x&state=wrong', '?error=access_denied&state='])
      pages.push(await (await fetch(`${back.href}${query}`)).text());
    pages.push(await browse(page));
  };
  await runtime.upstreams.login('desk', { onUrl: (page) => void onUrl(page) });
  const no = 'This address belongs to no login.\n';
  expect(pages).toEqual([no, no, no, 'Signalbox has the answer. Go back to the terminal.\n']);
});

test('two logins at once do not mix', async () => {
  const server = await openOAuthServer();
  const folder = project(server.url);
  const [one, other] = [await open(folder), await open(folder)];
  expect(await Promise.all([logIn(one), logIn(other)])).toHaveLength(2);
  expect(await look(one)).toMatchObject({ status: 'ok' });
});

test('a browser that never comes back, and an abort, end the login', async () => {
  const server = await openOAuthServer();
  const { upstreams } = await open(project(server.url));
  await expect(upstreams.login('desk', { onUrl: () => {}, timeoutMs: 300 })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    message: expect.stringContaining('nobody has logged in within'),
  });
  const ending = new AbortController();
  const login = upstreams.login('desk', { onUrl: () => ending.abort(), signal: ending.signal });
  await expect(login).rejects.toMatchObject({ code: 'ABORTED' });
});

test.each([
  ['an authorization server', (port: number) => ({ authorization_servers: [`http://localhost:${port}`] })],
  ['an address of the cloud', () => ({ authorization_servers: ['http://169.254.169.254/latest'] })],
])('metadata cannot lead to %s in a private network', async (_title, membersOf) => {
  const [server, inner] = [await openOAuthServer(), await openOAuthServer()];
  Object.assign(server.resource, membersOf(Number(new URL(inner.origin).port)));
  const runtime = await open(project(server.url));
  await expect(logIn(runtime)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  expect(inner.requests).toEqual([]);
});

test('client credentials get a token, and their secret goes to the issuer of the config only', async () => {
  const server = await openOAuthServer();
  const auth = (issuer: string) =>
    `{type: client_credentials, client_id: me, client_secret: hush-hush-hush, issuer: '${issuer}', scopes: [read]}`;
  expect(await look(await open(project(server.url, auth(server.origin))))).toMatchObject({ status: 'ok' });
  const [token] = sent(server, 'POST /token');
  expect(token?.authorization).toBe(`Basic ${Buffer.from('me:hush-hush-hush').toString('base64')}`);
  expect(Object.fromEntries(token?.params ?? [])).toEqual({
    grant_type: 'client_credentials',
    scope: 'read',
    resource: server.url,
  });
  const other = await openOAuthServer();
  expect(await look(await open(project(other.url, auth('https://id.example'))))).toMatchObject({
    error: { code: 'AUTH_FAILED' },
  });
  expect(sent(other, 'POST /token')).toEqual([]);
});

test('no message and no log contains a token that the server sends back', async () => {
  const server = await openOAuthServer();
  const runtime = await open(project(server.url));
  await logIn(runtime);
  await look(runtime);
  server.refusal = (authorization) => `no: ${authorization.slice('Bearer '.length)}.`;
  const document = await look(runtime);
  expect(document).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('no: [redacted].') },
  });
  const shown = JSON.stringify([document, runtime.logged]);
  expect(server.tokens.filter((token) => shown.includes(token))).toEqual([]);
});

test('a login needs a place for its token, and a server that is logged in to by a person', async () => {
  const server = await openOAuthServer();
  const cases: [string, string][] = [
    [project(server.url, '{type: login}', 'state_store: {type: memory}\n'), 'beside the state'],
    [project(server.url, ''), 'has no `auth: {type: login}`'],
  ];
  for (const [folder, says] of cases)
    await expect(logIn(await open(folder))).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(says),
    });
  expect(await look(await open(project(server.url, '')))).toMatchObject({
    error: { code: 'LOGIN_REQUIRED', hint: expect.stringContaining('auth: {type: login}') },
  });
});

test('the command prints the address, and the result as JSON', async () => {
  const server = await openOAuthServer();
  const folder = project(server.url);
  const { child, ran } = start(['mcp', 'login', 'desk', '--json', '--scope', 'read'], { cwd: folder });
  child.stderr?.on('data', (text) => {
    const page = /http:\S+/.exec(String(text))?.[0];
    if (page !== undefined) void browse(page);
  });
  const { stdout, stderr, code } = await ran;
  expect({ code, document: JSON.parse(stdout) }).toEqual({
    code: 0,
    document: { server: 'desk', scope: 'read' },
  });
  expect(stderr).toContain('open this address in a browser on this machine');
});

import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import fc from 'fast-check';
import { exportSPKI, UnsecuredJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { scopes } from '../../../src/contract/caller.ts';
import { openCallers } from '../../../src/gateway/http/callers.ts';
import { createKeyText } from '../../../src/gateway/keys/key-text.ts';
import { clockAt, manage, newStore, testEnv } from '../keys/open.ts';
import {
  type Answered,
  claimsFor,
  closedAddress,
  issuer,
  jwks,
  pairs,
  serveCallers,
  serveIssuer,
  sign,
  strangers,
} from './callers-server.ts';

const audience = 'https://tools.example.com/mcp';

/** A server behind the issuer, which clients call by its loopback address. */
async function serveWithIssuer(more: Parameters<typeof serveCallers>[0] = {}) {
  const served = await serveIssuer();
  const config = { auth: { issuer, jwksUrl: served.url, audience } };
  return { issuer: served, ...(await serveCallers({ ...more, config })) };
}

function expectNothingOf(secret: string, { headers, body }: Answered, notes: readonly string[]) {
  for (const part of secret.split('.').filter(({ length }) => length > 8))
    expect(JSON.stringify([headers, body, notes])).not.toContain(part);
}

const at = Math.floor(Date.now() / 1000);
const good = claimsFor(audience);
const [claims64, publicKey] = [
  Buffer.from(JSON.stringify(good)).toString('base64url'),
  pairs.RS256.publicKey,
];
const header64 = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url');
const parts = (await sign(good)).split('.');
const wrong: Readonly<Record<string, string | Promise<string>>> = {
  'another issuer': sign({ ...good, iss: 'https://evil.example.com/' }),
  'no issuer': sign({ ...good, iss: undefined }),
  'an issuer without its slash': sign({ ...good, iss: issuer.slice(0, -1) }),
  'another audience': sign({ ...good, aud: 'https://tools.example.com/other' }),
  'the audience as the begin of a longer one': sign({ ...good, aud: `${audience}/x` }),
  'a list without the audience': sign({ ...good, aud: ['https://tools.example.com', `${audience}/`] }),
  'an empty list of audiences': sign({ ...good, aud: [] }),
  'no audience': sign({ ...good, aud: undefined }),
  'an audience that is an object': sign({ ...good, aud: { [audience]: true } }),
  'an end in the past': sign({ ...good, exp: at - 31 }),
  'no end': sign({ ...good, exp: undefined }),
  'an end that is a text': sign({ ...good, exp: String(at + 3_600) }),
  'a beginning in the future': sign({ ...good, nbf: at + 3_600 }),
  'no subject': sign({ ...good, sub: undefined }),
  'an empty subject': sign({ ...good, sub: '' }),
  'a subject that is a number': sign({ ...good, sub: 7 }),
  'a subject with a character that cannot be seen': sign({ ...good, sub: 'mara\u200b' }),
  'a subject that turns its text around': sign({ ...good, sub: 'mara\u202e' }),
  'a subject of 256 characters': sign({ ...good, sub: 'm'.repeat(256) }),
  'a key of its holder (cnf)': sign({ ...good, cnf: { jkt: 'x' } }),
  'a signature by somebody else': sign(good, {}, strangers.privateKey),
  'an unknown key': sign(good, { kid: 'unknown' }),
  'the key of another algorithm': sign(good, { kid: 'ES256' }),
  'the algorithm none': new UnsecuredJWT(good).encode(),
  'the algorithm none and a signature': `${header64({ alg: 'none', kid: 'RS256' })}.${claims64}.${parts[2]}`,
  'the algorithm NONE': `${header64({ alg: 'NONE' })}.${claims64}.`,
  'no algorithm': `${header64({ kid: 'RS256' })}.${claims64}.${parts[2]}`,
  'HS256 with the public key as its secret': (async () =>
    await sign(good, { alg: 'HS256' }, Buffer.from(await exportSPKI(publicKey))))(),
  'HS256 with the public key as JSON': sign(
    good,
    { alg: 'HS256' },
    Buffer.from(JSON.stringify(jwks.keys[0])),
  ),
  'a key in its header (jwk)': (async () => {
    const header = {
      alg: 'RS256',
      jwk: jwks.keys[0],
      jku: 'https://evil.example.com',
      x5u: 'https://evil.example.com',
    };
    return `${header64(header)}.${claims64}.${(await sign(good, {}, strangers.privateKey)).split('.')[2]}`;
  })(),
  'an unknown critical header': `${header64({ alg: 'RS256', kid: 'RS256', crit: ['x'], x: 1 })}.${claims64}.${parts[2]}`,
  'other claims under the signature': `${parts[0]}.${header64({ ...good, sub: 'root' })}.${parts[2]}`,
  'claims that are a list': `${parts[0]}.${header64([])}.${parts[2]}`,
  'claims that are no JSON': `${parts[0]}.e30x.${parts[2]}`,
  'two parts': `${parts[0]}.${parts[1]}`,
  'four parts': `${parts.join('.')}.x`,
  'five parts (JWE)': `${parts.join('.')}.x.y`,
  'empty parts': '..',
  'a signature that is missing': `${parts[0]}.${parts[1]}.`,
};

describe('access tokens', () => {
  test.each([
    ['RS256', {}],
    ['ES256', {}],
    ['EdDSA', {}],
    ['a list of audiences', { aud: ['https://other.example.com', audience] }],
    ['scp as a list', { scope: undefined, scp: ['tools:call', 'x'] }],
    ['scp as a text', { scope: undefined, scp: 'x tools:call' }],
    ['no time of its issue', { iat: undefined }],
  ] as const)('pass with %s', async (title, claims) => {
    const { bearer } = await serveWithIssuer();
    const alg = title in pairs ? (title as keyof typeof pairs) : 'RS256';
    const token = await sign(
      { ...claimsFor(audience), ...claims },
      { alg, kid: alg, typ: 'at+jwt' },
      pairs[alg].privateKey,
    );
    const { status, body } = await bearer(token);
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { id: `${issuer} mara`, name: 'mara', scopes: ['tools:call'], calls: ['read_file', 'send'] },
    ]);
  });

  test.each(Object.keys(wrong))('with %s are refused with 401', async (title) => {
    const token = (await wrong[title]) ?? '';
    const { bearer, notes } = await serveWithIssuer();
    const answered = await bearer(token);
    expect([answered.status, JSON.parse(answered.body).error.code]).toEqual([401, 'invalid_token']);
    expect(answered.headers['www-authenticate']).toContain('error="invalid_token"');
    if (token.length > 20) expectNothingOf(token, answered, notes);
  });

  test('pass with a clock that is 20 seconds behind', async () => {
    const { bearer } = await serveWithIssuer();
    const now = Math.floor(Date.now() / 1000);
    expect((await bearer(await sign({ ...claimsFor(audience), exp: now - 20, nbf: now + 20 }))).status).toBe(
      200,
    );
  });

  test('without a known scope are refused with 403, whatever else they claim', async () => {
    const { bearer } = await serveWithIssuer();
    const held = [
      undefined,
      '',
      'openid',
      'tools:call2',
      'TOOLS:CALL',
      'tools:call\tx',
      ['tools:call'],
      { 'tools:call': 1 },
    ];
    for (const scope of held) {
      const answered = await bearer(await sign({ ...claimsFor(audience), scope, roles: ['admin'] }));
      const isList = Array.isArray(scope);
      expect([scope, answered.status]).toEqual([scope, isList ? 200 : 403]);
      if (!isList)
        expect(answered.headers['www-authenticate']).toMatch(
          /error="insufficient_scope".*scope="tools:call"/,
        );
    }
  });

  test('by default, the audience is the URL of the resource', async () => {
    const { url: jwksUrl } = await serveIssuer();
    const { url, bearer } = await serveCallers({ config: { auth: { issuer, jwksUrl } } });
    expect((await bearer(await sign(claimsFor(url)))).status).toBe(200);
    expect((await bearer(await sign(claimsFor(new URL(url).origin)))).status).toBe(401);
  });

  test('the keys of the issuer are fetched once, and unknown keys cause no storm', async () => {
    const { bearer, issuer: from } = await serveWithIssuer();
    const valid = await sign(claimsFor(audience));
    for (let n = 0; n < 5; n += 1) expect((await bearer(valid)).status).toBe(200);
    const unknown = await Promise.all(
      Array.from(
        { length: 30 },
        async (_, n) => (await bearer(await sign(claimsFor(audience), { kid: `k${n}` }))).status,
      ),
    );
    expect(new Set(unknown)).toEqual(new Set([401]));
    expect(from.fetches()).toBe(1);
  });

  const broken: Readonly<
    Record<string, { status?: number; headers?: Record<string, string>; body: string }>
  > = {
    'an error': { status: 500, body: JSON.stringify(jwks) },
    'no content': { status: 204, body: '' },
    'a redirect': { status: 302, headers: { location: '/elsewhere' }, body: JSON.stringify(jwks) },
    'a page': { body: '<html>' },
    'a list': { body: '[]' },
    'an object without keys': { body: '{}' },
    'keys that are no objects': { body: '{"keys": [1]}' },
    'two megabytes': { body: JSON.stringify({ ...jwks, pad: 'x'.repeat(2_000_000) }) },
    'a key that cannot be read': { body: JSON.stringify({ keys: [{ ...jwks.keys[0], n: 'AQAB' }] }) },
  };
  test.each(Object.keys(broken))(
    'are answered with 503 if the issuer gives %s, and it is asked once',
    async (title) => {
      const { bearer, issuer: from, notes } = await serveWithIssuer();
      from.answer = broken[title] ?? { body: '' };
      const token = await sign(claimsFor(audience));
      for (let n = 0; n < 3; n += 1) {
        const answered = await bearer(token);
        expect([answered.status, answered.headers['retry-after']]).toEqual([503, '5']);
        expectNothingOf(token, answered, notes);
      }
      expect(from.fetches()).toBe(1);
      expect(notes).toHaveLength(1);
    },
  );

  test('are answered with 503 if the issuer cannot be reached; keys of Signalbox still work', async () => {
    const store = newStore();
    const { key } = await (await manage(store)).create({ name: 'agent', tools: ['*'] });
    const address = await closedAddress();
    const config = { auth: { issuer, jwksUrl: `${address}?secret=s3cret`, audience } };
    const { bearer, notes } = await serveCallers({ store, config });
    expect((await bearer(await sign(claimsFor(audience)))).status).toBe(503);
    expect((await bearer(key)).status).toBe(200);
    expect(notes).toEqual([`the keys of the issuer cannot be used (${address}): ECONNREFUSED`]);
  });

  test('a key set that fails later does not let a token with an unknown key pass', async () => {
    const { bearer, issuer: from } = await serveWithIssuer();
    const valid = await sign(claimsFor(audience));
    expect((await bearer(valid)).status).toBe(200);
    from.answer = { status: 500, body: '' };
    expect((await bearer(await sign(claimsFor(audience), { kid: 'new' }))).status).toBe(401);
    expect((await bearer(valid)).status).toBe(200);
  });
});

describe('keys', () => {
  const rights = [
    { role: 'admin', calls: ['read_file', 'send'] },
    { tools: ['read_*'], calls: ['read_file'] },
    { role: 'viewer', tools: ['*'], calls: ['read_file', 'send'] },
    { role: 'viewer', calls: undefined },
    { role: 'approver', calls: undefined },
    { calls: undefined },
    { models: ['small'], calls: undefined },
  ] as const;
  test.each(rights)('a key with $role $tools calls $calls', async ({ calls, ...wanted }) => {
    const store = newStore();
    const { key, id } = await (await manage(store)).create({ name: 'agent', ...wanted });
    const { bearer, notes } = await serveCallers({ store, config: { auth: { required: true } } });
    const answered = await bearer(key);
    expect(answered.status).toBe(calls === undefined ? 403 : 200);
    if (calls !== undefined) expect(JSON.parse(answered.body)).toMatchObject({ id, name: 'agent', calls });
    else expect(answered.headers['www-authenticate']).toMatch(/^Bearer .*error="insufficient_scope"/);
    expectNothingOf(key.slice(4), answered, notes);
  });

  test('that are revoked, expired or replaced are refused from the next call on, by every server', async () => {
    const store = newStore();
    const clock = clockAt('2026-11-28T12:00:00Z');
    const keys = await manage(store, clock.now);
    const servers = [
      await serveCallers({ store, now: clock.now }),
      await serveCallers({ store, now: clock.now }),
    ];
    const statuses = async (key: string) =>
      await Promise.all(servers.map(async ({ bearer }) => (await bearer(key)).status));
    const first = await keys.create({ name: 'a', tools: ['*'] });
    expect(await statuses(first.key)).toEqual([200, 200]);
    const second = await keys.rotate('a', 60_000);
    expect([...(await statuses(first.key)), ...(await statuses(second.key))]).toEqual([200, 200, 200, 200]);
    clock.move(60_000);
    expect([...(await statuses(first.key)), ...(await statuses(second.key))]).toEqual([401, 401, 200, 200]);
    await keys.revoke('a');
    expect(await statuses(second.key)).toEqual([401, 401]);
    const { key } = await keys.create({ name: 'b', tools: ['*'], expiresAt: clock.now() + 1_000 });
    expect(await statuses(key)).toEqual([200, 200]);
    clock.move(1_000);
    expect(await statuses(key)).toEqual([401, 401]);
  });

  test('of a store that cannot be read are answered with 503', async () => {
    const store = { type: 'postgres', urlEnv: 'NO_DATABASE', folder: '/nowhere' } as const;
    testEnv['NO_DATABASE'] = 'postgres://u:s3cret@127.0.0.1:1/x?connect_timeout=1';
    const { bearer, notes } = await serveCallers({ store });
    const answered = await bearer(createKeyText());
    expect([answered.status, answered.headers['retry-after']]).toEqual([503, '5']);
    expect(JSON.stringify([answered, notes])).not.toContain('s3cret');
    expect(notes).toHaveLength(1);
  });
});

describe('a request', () => {
  const key = createKeyText();
  const refused: readonly [
    title: string,
    given: Readonly<Record<string, string | string[]>>,
    path?: string,
    status?: number,
  ][] = [
    ['no credential', {}],
    ['an empty header', { authorization: '' }],
    ['the scheme alone', { authorization: 'Bearer' }],
    ['the scheme and spaces', { authorization: 'Bearer   ' }],
    ['another scheme', { authorization: `Basic ${Buffer.from(`x:${key}`).toString('base64')}` }],
    ['no scheme', { authorization: key }],
    ['an unknown key', { authorization: `Bearer ${key}` }],
    ['two tokens', { authorization: `Bearer ${key} ${key}` }],
    ['two headers', { authorization: [`Bearer ${key}`, `Bearer ${key}`] }],
    ['a tab', { authorization: `Bearer\t${key}` }],
    ['a comma', { authorization: `Bearer ${key},` }],
    ['quotes', { authorization: `Bearer "${key}"` }],
    ['a header of another name', { 'x-authorization': `Bearer ${key}` }],
    ['the headers of the gateway', { 'x-signalbox-key': key, 'x-api-key': key }],
    ['a cookie', { cookie: `authorization=Bearer ${key}` }],
    ['a method in a header', { 'x-http-method-override': 'GET' }],
    ['a token of 20,000 characters', { authorization: `Bearer ${'a'.repeat(15_000)}` }],
    ['a token in the address', { authorization: `Bearer ${key}` }, `/mcp?access_token=${key}`, 400],
    ['a key under another name in the address', {}, `/mcp?x=${key}`, 400],
    ['an escaped name in the address', {}, `/mcp?%61ccess_token=x`, 400],
  ];
  test.each(refused)('with %s is refused', async (_title, headers, path = '/mcp', status = 401) => {
    const { ask, notes } = await serveCallers({ config: { auth: { required: true } } });
    const answered = await ask(headers, { path });
    expect(answered.status).toBe(status);
    expect(answered.headers['www-authenticate']).toMatch(
      /^Bearer realm="signalbox"(, error="\w+", error_description="[^"]+")?, scope="tools:call"$/,
    );
    expect(JSON.parse(answered.body)).toEqual({
      error: { code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) },
    });
    expectNothingOf(key.slice(4), answered, notes);
  });

  test('names its scheme in any case, and nothing is guessed', async () => {
    const store = newStore();
    const created = await (await manage(store)).create({ name: 'agent', tools: ['*'] });
    const { ask } = await serveCallers({ store });
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      expect((await ask({ authorization: `${scheme} ${created.key}` })).status).toBe(200);
    // The first of two headers is valid: a proxy may have checked the other one.
    expect((await ask({ authorization: [`Bearer ${created.key}`, `Bearer ${key}`] })).status).toBe(401);
    expect((await ask({ authorization: [`Bearer ${key}`, `Bearer ${created.key}`] })).status).toBe(401);
  });

  test('on loopback needs no credential, but one that it has must be valid', async () => {
    const { ask } = await serveCallers();
    const { status, body } = await ask();
    expect([status, JSON.parse(body)]).toMatchObject([200, { id: 'local', name: 'local' }]);
    expect((await ask({ authorization: `Bearer ${key}` })).status).toBe(401);
    expect((await ask({ authorization: 'x' })).status).toBe(401);
    for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'])
      expect([name, (await ask({ [name]: '203.0.113.7' })).status]).toEqual([name, 403]);
  });

  test('never passes with a generated header, and never fails the server', async () => {
    const store = newStore();
    const created = await (await manage(store)).create({ name: 'agent', tools: ['*'] });
    const { ask, issuer: from } = await serveWithIssuer({ store });
    const token = await sign(claimsFor(audience));
    const seeds = [
      created.key,
      token,
      'Bearer',
      'sbx_',
      'eyJhbGciOiJub25lIn0.e30.',
      ' ',
      ',',
      '.',
      '=',
      '\xff',
      '\t',
    ];
    const word = fc.oneof(fc.constantFrom(...seeds), fc.string({ unit: 'binary-ascii', maxLength: 40 }));
    const change = fc.tuple(
      fc.constantFrom(created.key, token),
      fc.nat(),
      fc.constantFrom('', 'A', '.', 'é', ' '),
    );
    const header = fc.oneof(
      fc.array(word, { maxLength: 5 }).map((words) => words.join('')),
      fc.array(word, { maxLength: 3 }).map((words) => `Bearer ${words.join('')}`),
      change.map(
        ([text, at, put]) =>
          `Bearer ${text.slice(0, at % (text.length - 4))}${put}${text.slice((at % (text.length - 4)) + 1)}`,
      ),
    );
    const isValid = (text: string) =>
      [created.key, token].includes(/^bearer +(.*?)[ \t]*$/i.exec(text.replace(/^[ \t]+/, ''))?.[1] ?? '');
    await fc.assert(
      fc.asyncProperty(header, async (generated) => {
        const text = generated.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
        const { status } = await ask({ authorization: text });
        expect([text, status]).toEqual([text, isValid(text) ? 200 : 401]);
      }),
      { numRuns: 400 },
    );
    expect(from.fetches()).toBeLessThan(3);
  });

  const names: readonly [title: string, given: (port: number) => Record<string, string>, status: number][] = [
    ['its address', (port) => ({ host: `127.0.0.1:${port}` }), 200],
    ['localhost', (port) => ({ host: `LocalHost:${port}` }), 200],
    ['the address of IPv6', (port) => ({ host: `[::1]:${port}` }), 200],
    ['its own origin', (port) => ({ host: `localhost:${port}`, origin: `http://localhost:${port}` }), 200],
    ['no port', () => ({ host: '127.0.0.1' }), 403],
    ['another port', () => ({ host: '127.0.0.1:1' }), 403],
    ['another name', (port) => ({ host: `evil.example:${port}` }), 403],
    ['a name that begins like it', (port) => ({ host: `127.0.0.1.evil.example:${port}` }), 403],
    ['a name that ends like it', (port) => ({ host: `evil.localhost:${port}` }), 403],
    ['a dot at the end', (port) => ({ host: `localhost.:${port}` }), 403],
    ['another writing of the address', (port) => ({ host: `127.1:${port}` }), 403],
    ['the address of every interface', (port) => ({ host: `0.0.0.0:${port}` }), 403],
    ['a user before it', (port) => ({ host: `evil.example@127.0.0.1:${port}` }), 400],
    ['a path after it', (port) => ({ host: `127.0.0.1:${port}/x` }), 400],
    [
      'another name and the right one behind a proxy',
      (port) => ({ host: 'evil.example', 'x-forwarded-host': `127.0.0.1:${port}` }),
      403,
    ],
    ['the origin of a page', (port) => ({ host: `127.0.0.1:${port}`, origin: 'https://evil.example' }), 403],
    ['the origin null', (port) => ({ host: `127.0.0.1:${port}`, origin: 'null' }), 403],
    [
      'its own origin over https',
      (port) => ({ host: `127.0.0.1:${port}`, origin: `https://127.0.0.1:${port}` }),
      403,
    ],
    [
      'the origin of another port',
      (port) => ({ host: `127.0.0.1:${port}`, origin: 'http://127.0.0.1:1' }),
      403,
    ],
  ];
  test.each(names)('on loopback that names %s', async (_title, given, status) => {
    const { ask, port } = await serveCallers();
    expect((await ask(given(port))).status).toBe(status);
    const metrics = await serveCallers({ ...readers, config: { auth: { required: true } } });
    expect((await metrics.ask(given(metrics.port))).status).toBe(status);
  });

  test.each([
    ['no Host header', 'POST /mcp HTTP/1.0\r\n\r\n', '403'],
    ['no Host header, in HTTP/1.1', 'POST /mcp HTTP/1.1\r\n\r\n', '400'],
    ['two Host headers', 'POST /mcp HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n', '403'],
    [
      'two Host headers, the right one last',
      'POST /mcp HTTP/1.1\r\nHost: evil.example\r\nHost: HOST\r\n\r\n',
      '403',
    ],
    [
      'the address of another server',
      'POST http://evil.example/mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      '403',
    ],
    ['a folded header', 'POST /mcp HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer\r\n x\r\n\r\n', '400'],
  ])('on loopback with %s is refused', async (_title, text, status) => {
    const { port } = await serveCallers();
    const socket = connect(port, '127.0.0.1');
    socket.end(text.replaceAll('HOST', `127.0.0.1:${port}`));
    expect((await readText(socket)).slice(9, 12)).toBe(status);
  });

  test('beyond loopback names the public URL, and has a credential', async () => {
    const store = newStore();
    const created = await (await manage(store)).create({ name: 'agent', tools: ['*'] });
    const config = { publicUrl: audience };
    const { ask, port } = await serveCallers({ store, config, host: '0.0.0.0' });
    const authorization = `Bearer ${created.key}`;
    const status = async (headers: Record<string, string>) => (await ask(headers)).status;
    expect(await status({ host: 'tools.example.com' })).toBe(401);
    for (const host of ['tools.example.com', 'Tools.Example.com', 'tools.example.com:443'])
      expect([host, await status({ host, authorization })]).toEqual([host, 200]);
    const origin = 'https://tools.example.com';
    expect(await status({ host: 'tools.example.com', origin, authorization })).toBe(200);
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `0.0.0.0:${port}`,
      'tools.example.com:80',
      'tools.example.com:8443',
      'example.com',
    ])
      expect([host, await status({ host, authorization })]).toEqual([host, 403]);
    for (const wrong of [
      'http://tools.example.com',
      'https://example.com',
      'https://tools.example.com.evil.example',
      'null',
    ])
      expect([wrong, await status({ host: 'tools.example.com', origin: wrong, authorization })]).toEqual([
        wrong,
        403,
      ]);
  });

  test('gets its refusal in the form of the surface', async () => {
    const bodyOf = ({ code, message }: { code: string; message: string }) => ({
      jsonrpc: '2.0',
      code,
      message,
    });
    const { ask } = await serveCallers({ config: { auth: { required: true } }, bodyOf });
    expect(JSON.parse((await ask()).body)).toMatchObject({ jsonrpc: '2.0', code: 'unauthorized' });
  });
});

const readers = { metrics: true, needed: ['runs:read'] } as const;

describe('metrics', () => {
  test.each([
    [{ role: 'viewer' }, 200],
    [{ role: 'approver' }, 200],
    [{ role: 'admin' }, 200],
    [{ tools: ['*'] }, 403],
    [{ models: ['*'] }, 403],
  ] as const)(
    'for other machines need a credential that may read runs: %j gets %i',
    async (rights, status) => {
      const store = newStore();
      const keys = await manage(store);
      const { key } = await keys.create({ name: 'prometheus', ...rights });
      const [revoked, weak] = [
        await keys.create({ name: 'old', role: 'viewer' }),
        await keys.create({ name: 'other', role: 'viewer' }),
      ];
      const { ask, bearer, notes } = await serveCallers({ ...readers, store, host: '0.0.0.0' });
      await keys.revoke('old');
      expect((await bearer(weak.key)).status).toBe(200);
      const answered = await bearer(key);
      expect(answered.status).toBe(status);
      expectNothingOf(key.slice(4), answered, notes);
      // Prometheus names a server by the address at which it found it.
      const headers = { authorization: `Bearer ${weak.key}`, host: 'pod-7.prod.svc:8080' };
      expect((await ask(headers, { method: 'GET' })).status).toBe(200);
      const wrong: readonly Record<string, string>[] = [
        { host: headers.host },
        { ...headers, authorization: `Bearer ${revoked.key}` },
        { ...headers, authorization: `Basic ${Buffer.from(`x:${weak.key}`).toString('base64')}` },
        { ...headers, authorization: '' },
      ];
      for (const each of wrong) expect([each, (await ask(each)).status]).toEqual([each, 401]);
      const pages: readonly Record<string, string>[] = [
        { ...headers, origin: 'http://pod-7.prod.svc:8080' },
        { ...headers, origin: 'null' },
        { ...headers, 'sec-fetch-site': 'cross-site' },
        { ...headers, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'iframe' },
      ];
      for (const each of pages) expect([each, (await ask(each)).status]).toEqual([each, 403]);
    },
  );

  test('on loopback need no credential, also where calls of tools do', async () => {
    const config = { publicUrl: audience, auth: { issuer, jwksUrl: issuer, required: true } };
    const { ask } = await serveCallers({ ...readers, config });
    expect((await ask({}, { method: 'GET' })).status).toBe(200);
    expect((await ask({ authorization: 'Bearer x' })).status).toBe(401);
    expect((await ask({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
    const { status, body } = await ask({ via: '1.1 proxy' });
    expect([status, JSON.parse(body).error]).toEqual([
      403,
      { code: 'untrusted_proxy', message: 'A request through a proxy needs a credential.' },
    ]);
  });

  test('are not served to other machines before a key may read runs', async () => {
    const store = newStore();
    await (await manage(store)).create({ name: 'agent', tools: ['*'], models: ['*'] });
    await expect(serveCallers({ ...readers, store, host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
      message: 'other machines can reach 0.0.0.0, and there is no key yet',
      hint: 'Create one with `signalbox keys create NAME --role viewer`, or set spec.mcp.auth.issuer.',
    });
  });
});

describe('metadata of the resource', () => {
  const config = { publicUrl: audience, auth: { issuer, jwksUrl: 'https://id.example.com/jwks' } };
  const document = {
    resource: audience,
    authorization_servers: [issuer],
    scopes_supported: [...scopes],
    bearer_methods_supported: ['header'],
  };

  test('is where a refusal says, without a credential', async () => {
    const { ask } = await serveCallers({ config, host: '0.0.0.0' });
    const host = 'tools.example.com';
    const { status, headers } = await ask({ host });
    const metadata = 'https://tools.example.com/.well-known/oauth-protected-resource/mcp';
    expect([status, headers['www-authenticate']]).toEqual([
      401,
      `Bearer realm="signalbox", resource_metadata="${metadata}", scope="tools:call"`,
    ]);
    for (const path of [new URL(metadata).pathname, '/.well-known/oauth-protected-resource']) {
      const answered = await ask({ host }, { path, method: 'GET' });
      expect([answered.status, JSON.parse(answered.body)]).toEqual([200, document]);
      expect((await ask({ host }, { path, method: 'POST' })).status).toBe(405);
      expect((await ask({ host: 'evil.example' }, { path, method: 'GET' })).status).toBe(403);
    }
    for (const path of [
      '/.well-known/oauth-protected-resource/mcp/',
      '/.well-known/oauth-protected-resource/other',
    ])
      expect((await ask({ host }, { path, method: 'GET' })).status).toBe(401);
  });

  test('is not there without an issuer', async () => {
    const { ask } = await serveCallers({ config: { auth: { required: true } } });
    expect((await ask({}, { path: '/.well-known/oauth-protected-resource/mcp', method: 'GET' })).status).toBe(
      401,
    );
    expect((await ask()).headers['www-authenticate']).toBe('Bearer realm="signalbox", scope="tools:call"');
  });
});

const unsafe: readonly [
  title: string,
  host: string,
  config: Parameters<typeof openCallers>[0]['config'],
  says: RegExp,
][] = [
  [
    'beyond loopback without a public URL',
    '0.0.0.0',
    { auth: {} },
    /can reach 0\.0\.0\.0, but its name there is unknown/,
  ],
  ['at a name without a public URL', 'tools.example.com', { auth: {} }, /its name there is unknown/],
  ['beyond loopback without a key', '::', { publicUrl: audience, auth: {} }, /there is no key yet/],
  [
    'beyond loopback with optional credentials',
    '10.0.0.1',
    { publicUrl: audience, auth: { required: false, issuer, jwksUrl: issuer } },
    /required is false/,
  ],
  [
    'on loopback for others, with optional credentials',
    '127.0.0.1',
    { publicUrl: audience, auth: { required: false } },
    /names this server to others, and spec\.mcp\.auth\.required is false/,
  ],
  ['on loopback for others, without a key', '::1', { publicUrl: audience, auth: {} }, /there is no key yet/],
];
test.each(unsafe)('a server %s does not start', async (_title, host, config, says) => {
  const store = newStore();
  await (await manage(store)).create({ name: 'only models' });
  const context = { store, env: testEnv, privateHosts: [], url: () => '', report: () => {} };
  const opening = openCallers({ config, host, ...context });
  await expect(opening).rejects.toMatchObject({
    code: 'LISTEN_FAILED',
    message: expect.stringMatching(says),
    hint: expect.stringMatching(/\.$/),
  });
});

test('the token of a start counts only where no other machine can send it', async () => {
  const { url: jwksUrl } = await serveIssuer();
  const token = { text: 'x'.repeat(32), name: 'ada', unlessKeys: true };
  const open = async (publicUrl: string | undefined) => {
    const callers = await openCallers({
      config: { auth: { issuer, jwksUrl } },
      ...{ privateHosts: [], store: newStore(), env: testEnv, report: () => {} },
      ...{ host: '127.0.0.1', url: () => 'http://127.0.0.1:8789/console', console: { publicUrl, token } },
    });
    onTestFinished(callers.close);
    const headers = new Headers({ host: '127.0.0.1:8789', authorization: `Bearer ${token.text}` });
    const admitted = await callers.admit({ method: 'GET', url: 'http://127.0.0.1:8789/me', headers }, []);
    return [callers.takesToken, 'status' in admitted ? admitted.status : admitted.name];
  };
  expect(await open(undefined)).toEqual([true, 'ada']);
  expect(await open('https://ops.example.com/console')).toEqual([false, 401]);
});

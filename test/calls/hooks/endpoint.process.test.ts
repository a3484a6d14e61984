// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a variable in a config
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { configText, native, told } from '../../config/told.ts';
import { open } from '../../runtime/open.ts';
import { makeSharedFolder } from '../../shared-folder.ts';

interface Heard {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Peer {
  readonly url: string;
  readonly heard: readonly Heard[];
}

type Answer = (response: ServerResponse, path: string) => void;

async function serve(answer: Answer, tls?: { readonly key: string; readonly cert: string }): Promise<Peer> {
  const heard: Heard[] = [];
  const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
    heard.push({ headers: request.headers, body: await text(request) });
    answer(response, request.url ?? '');
  };
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${tls === undefined ? 'http' : 'https'}://localhost:${port}/judge`, heard };
}

const json = { 'content-type': 'application/json' };
const says =
  (body: string, status = 200, headers: Readonly<Record<string, string | number>> = json): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);

const allow = '{"allow": true}';
const event = {
  hook: 'tool',
  phase: 'before_execution',
  request: { name: 'refund', args: { amount: 5 } },
} as const;

async function decide(url: string, more = '', options = {}, files = {}) {
  const spec = `state_store: {type: memory}\nhooks:\n  guard: {hook: tool, phases: [before_execution], url: "${url}", ${more}}\n`;
  const { runtime, events } = await open(spec, options, files);
  return { decision: await runtime.hooks.fire(event), events, runtime };
}

test('an endpoint gets and returns the same documents as a process [DS-HOOK-14]', async () => {
  const { url, heard } = await serve(says('{"allow": true, "replace": {"args": {"amount": 1}}}'));
  const { decision } = await decide(url);
  expect(decision).toMatchObject({ verdict: 'modify', hook: 'guard', replace: { args: { amount: 1 } } });
  expect(heard).toHaveLength(1);
  expect(JSON.parse(heard[0]?.body ?? '')).toMatchObject({
    hook: 'tool',
    phase: 'before_execution',
    request: { name: 'refund', args: { amount: 5 } },
  });
  expect(heard[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
});

test('a plain allow passes, and a denial has its reason', async () => {
  const yes = await serve(says(allow, 200, { 'content-type': 'application/json; charset=utf-8' }));
  expect((await decide(yes.url)).decision).toMatchObject({ verdict: 'allow' });
  const no = await serve(says('{"allow": false, "reason": "too much"}'));
  expect((await decide(no.url)).decision).toMatchObject({ verdict: 'deny', reason: 'too much' });
});

const failures: readonly {
  readonly title: string;
  readonly answer: Answer;
  readonly code: string;
  readonly more?: string;
}[] = [
  ...[201, 202, 204, 400, 403, 500].map((status) => ({
    title: `status ${status}`,
    answer: says(status === 204 ? '' : allow, status),
    code: 'REPLY_MALFORMED',
  })),
  ...[301, 302, 303, 307, 308].map((status) => ({
    title: `a redirect (${status})`,
    answer: ((response, path) =>
      path === '/elsewhere'
        ? says(allow)(response, path)
        : says('', status, { location: '/elsewhere' })(response, path)) satisfies Answer,
    code: 'REPLY_MALFORMED',
  })),
  { title: 'HTML', answer: says(allow, 200, { 'content-type': 'text/html' }), code: 'REPLY_MALFORMED' },
  { title: 'no content type', answer: says(allow, 200, {}), code: 'REPLY_MALFORMED' },
  { title: 'nothing', answer: says(''), code: 'REPLY_MALFORMED' },
  { title: 'half an answer', answer: says('{"allow": tr'), code: 'REPLY_MALFORMED' },
  { title: 'two answers', answer: says(`${allow}${allow}`), code: 'REPLY_MALFORMED' },
  { title: 'a list', answer: says(`[${allow}]`), code: 'REPLY_MALFORMED' },
  { title: 'an allow that is a text', answer: says('{"allow": "true"}'), code: 'REPLY_MALFORMED' },
  {
    title: 'Latin-1',
    answer: (response) =>
      void response.writeHead(200, json).end(Buffer.from('{"allow": true, "reason": "gr\xfcn"}', 'latin1')),
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'UTF-16',
    answer: (response) => void response.writeHead(200, json).end(Buffer.from(allow, 'utf16le')),
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'too many bytes',
    answer: says(`{"allow": true, "reason": "${'x'.repeat(5000)}"}`),
    code: 'OUTPUT_LIMIT',
    more: 'max_output_bytes: 1000',
  },
  {
    title: 'a flood',
    answer: (response) => {
      response.writeHead(200, json);
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
    code: 'OUTPUT_LIMIT',
    more: 'max_output_bytes: 100000',
  },
  { title: 'silence', answer: () => {}, code: 'PROCESS_TIMEOUT', more: 'timeout_ms: 150' },
  {
    title: 'an answer that never ends',
    answer: (response) => void response.writeHead(200, json).write('{"allow": true'),
    code: 'PROCESS_TIMEOUT',
    more: 'timeout_ms: 150',
  },
  {
    title: 'an answer that comes late',
    answer: (response, path) => void setTimeout(() => says(allow)(response, path), 400),
    code: 'PROCESS_TIMEOUT',
    more: 'timeout_ms: 150',
  },
  { title: 'a closed connection', answer: (response) => void response.destroy(), code: 'PROCESS_START' },
  {
    title: 'a connection that is closed behind an allow',
    answer: (response) => {
      response.writeHead(200, { ...json, 'content-length': 1000 }).write(allow, () => response.destroy());
    },
    code: 'PROCESS_START',
  },
  {
    title: 'an answer packed by what nobody knows',
    answer: says(allow, 200, { ...json, 'content-encoding': 'gzip' }),
    code: 'PROCESS_START',
  },
];

test.each(failures)(
  'a filter that answers with $title denies [DS-HOOK-15]',
  async ({ answer, code, more }) => {
    const { url, heard } = await serve(answer);
    const { decision } = await decide(url, more);
    expect(decision).toMatchObject({ verdict: 'deny', hook: 'guard', error: { code } });
    expect(heard).toHaveLength(1);
  },
);

test('an unreachable server denies, and its address is shown without secrets', async () => {
  const gone = 'http://user:hunter2hunter2@127.0.0.1:1/judge?token=hunter3hunter3';
  const { decision, events } = await decide(gone);
  expect(decision).toMatchObject({ verdict: 'deny', error: { code: 'PROCESS_START' } });
  expect(JSON.stringify([decision, events])).not.toMatch(/hunter/);
});

test('headers are filled from the environment, and their values are never shown [DS-HOOK-14]', async () => {
  const { url, heard } = await serve(says('{"allow": false, "reason": "Bearer token-12345678 is wrong"}'));
  const more = 'headers: {Authorization: "Bearer ${env:GUARD_TOKEN}", X-Team: 7}';
  const { decision } = await decide(url, more, { env: { ...process.env, GUARD_TOKEN: 'token-12345678' } });
  expect(heard[0]?.headers).toMatchObject({ authorization: 'Bearer token-12345678', 'x-team': '7' });
  expect(decision.verdict).toBe('deny');
  expect(JSON.stringify(decision)).not.toContain('token-12345678');
});

test('a credential written in the file is hidden too', async () => {
  const { url } = await serve(
    says('{"allow": false, "reason": "literal-12345678 and hunter2hunter2 are wrong"}'),
  );
  const withUser = url.replace('http://', 'http://user:hunter2hunter2@');
  const { decision } = await decide(withUser, 'headers: {X-Api-Key: literal-12345678}');
  expect(decision).toMatchObject({ verdict: 'deny' });
  expect(JSON.stringify(decision)).not.toMatch(/12345678|hunter2/);
});

function certify(folder: string, name: string) {
  const at = (end: string) => join(folder, `${name}.${end}`);
  execFileSync(
    '/usr/bin/openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ...['-keyout', at('key'), '-out', at('pem')],
    ],
    { stdio: 'ignore' },
  );
  return { file: at('pem'), key: readFileSync(at('key'), 'utf8'), cert: readFileSync(at('pem'), 'utf8') };
}

describe.runIf(existsSync('/usr/bin/openssl'))('over TLS', () => {
  const folder = makeSharedFolder('endpoint-');

  test('a certificate must be trusted [DS-HOOK-15]', async () => {
    const [own, other] = [certify(folder, 'own'), certify(folder, 'other')];
    const { url, heard } = await serve(says(allow), own);
    expect((await decide(url, `ca: ${own.file}`)).decision).toMatchObject({ verdict: 'allow' });
    for (const more of ['', `ca: ${other.file}`, `ca: ${join(folder, 'missing.pem')}`])
      expect((await decide(url, more)).decision).toMatchObject({ verdict: 'deny' });
    const otherName = url.replace('localhost', '127.0.0.1');
    expect((await decide(otherName, `ca: ${own.file}`)).decision).toMatchObject({ verdict: 'deny' });
    expect(heard).toHaveLength(1);
  });

  test('every denying answer denies here too [DS-HOOK-15]', async () => {
    const own = certify(folder, 'own');
    // This client does not decompress, so such a body is not valid JSON.
    const all = failures.filter(({ title }) => !title.startsWith('an answer packed'));
    const decided = await Promise.all(
      all.map(async ({ answer, more = '' }) => {
        const { url } = await serve(answer, own);
        return (await decide(url, `ca: ${own.file}, ${more}`)).decision;
      }),
    );
    expect(decided.map(({ verdict, error }, index) => [all[index]?.title, verdict, error?.code])).toEqual(
      all.map(({ title, code }) => [title, 'deny', code]),
    );
  });
});

test('an endpoint that only observes delays nothing, whatever it answers [DS-HOOK-16]', async () => {
  const { url, heard } = await serve(() => {});
  const spec = `state_store: {type: memory}\nhooks:\n  told: {hook: tool, mode: observe, url: "${url}", timeout_ms: 300}\n`;
  const { runtime, events } = await open(spec);
  const startedAt = performance.now();
  expect(await runtime.hooks.fire(event)).toMatchObject({ verdict: 'allow' });
  expect(performance.now() - startedAt).toBeLessThan(250);
  await expect.poll(() => heard.length).toBe(1);
  await runtime.close();
  expect(JSON.stringify(events)).toContain('PROCESS_TIMEOUT');
});

test('events that `match` excludes are not posted, and many requests run concurrently', async () => {
  const { url, heard } = await serve(says(allow));
  const { runtime, decision } = await decide(url, 'match: {tools: [other]}');
  expect(decision.verdict).toBe('allow');
  expect(heard).toHaveLength(0);
  await runtime.close();
  const { runtime: busy } = await decide(url);
  await Promise.all(Array.from({ length: 200 }, () => busy.hooks.fire(event)));
  expect(heard).toHaveLength(201);
});

test('an aborted request is withdrawn, and no connection stays', async () => {
  const { url } = await serve(() => {});
  const { runtime } = await open(
    `state_store: {type: memory}\nhooks:\n  guard: {hook: tool, phases: [before_execution], url: "${url}"}\n`,
  );
  expect(await runtime.hooks.fire(event, { signal: AbortSignal.timeout(100) })).toMatchObject({
    verdict: 'deny',
  });
});

test('the endpoint of docs/guides/write-hooks.md works [DS-HOOK-17]', () => {
  const page = readFileSync(new URL('../../../docs/guides/write-hooks.md', import.meta.url), 'utf8');
  const [, snippet = ''] = /```yaml\n(spec:\n {2}hooks:\n {4}policy:\n {6}url:[^`]*)```/.exec(page) ?? [];
  const env = { POLICY_TOKEN: 'token-12345678' };
  const { config, problems } = told(`apiVersion: ${native}\nkind: RuntimeConfig\n${snippet}`, { env });
  expect(problems).toEqual([]);
  expect(config?.hooks[0]?.exec.endpoint).toEqual({
    url: 'https://policy.example.com/judge',
    headers: { Authorization: 'Bearer token-12345678' },
    ca: 'policy-ca.pem',
  });
});

test.each([
  {
    title: 'is no address',
    hook: 'url: ftp://x',
    problems: ['error 5:14 hooks[g].url: must be an http or https address'],
  },
  {
    title: 'has a command too',
    hook: 'url: "http://x", command: ./x.sh, args: [a]',
    problems: [
      'error 5:35 hooks[g].command: cannot be combined with `url` | A hook is a process (`command`) or an endpoint (`url`).',
      'error 5:49 hooks[g].args: cannot be combined with `url` | A hook is a process (`command`) or an endpoint (`url`).',
    ],
  },
  {
    title: 'has headers that cannot be',
    hook: 'url: "http://x", headers: {"a b": c, Host: x, X-Y: "a\\nb"}',
    problems: [
      'error 5:36 hooks[g].headers[a b]: is not a valid HTTP header',
      'error 5:46 hooks[g].headers[Host]: is set by Signalbox itself',
      'error 5:55 hooks[g].headers[X-Y]: is not a valid HTTP header',
    ],
  },
  {
    title: 'has certificates for a plain address',
    hook: 'url: "http://x", ca: x.pem',
    problems: ['error 5:26 hooks[g].ca: is only used with an https address'],
  },
  {
    title: 'is of another system',
    hook: 'url: "http://x", dialect: claude, command: x, claude: {event: Stop}',
    problems: ['error 5:14 hooks[g].url: is not allowed here'],
  },
])('validate reports that an endpoint $title, with its place [DS-HOOK-17]', ({ hook, problems }) => {
  const kind = hook.includes('claude') ? '' : ', hook: tool';
  const text = configText(native, `\nhooks:\n  g: {${hook}${kind}}`);
  expect(told(text).problems.filter((line) => line.startsWith('error'))).toEqual(problems);
});

import { describe, expect, test } from 'vitest';
import { serveView } from '../../../src/runtime/view/serve-view.ts';
import { codeOf } from '../../store/result-contract.ts';
import { ask, hostile, openFolder, openView } from './support.ts';

const rating = { case: 'one', by: 'eve', score: 1 };

describe('access to the view', () => {
  test('needs the token of this start, whose address is printed in a fragment, and no cookie is set [DS-VIEW-01]', async () => {
    const { runtime, ids } = await openFolder();
    const { origin, first, authorization, get } = await openView([runtime]);
    const token = new URL(first).hash.replace('#token=', '');
    const paths = ['/', `/runs/${ids[0]}`, '/compare?a=last&b=last', '/nothing', `/?token=${token}`];
    const entered = [
      {},
      { cookie: `signalbox_view=${token}` },
      { authorization: `${authorization}x` },
      { authorization: token },
    ];
    for (const path of [...paths, `/runs/${ids[0]}/case?id=one&number=1`])
      for (const headers of entered) {
        const refused = await ask(origin, path, { headers });
        expect([path, refused.status, refused.headers['set-cookie'], refused.text.includes(ids[0])]).toEqual([
          path,
          403,
          undefined,
          false,
        ]);
        expect(refused.text).not.toContain(token);
      }
    const shown = await get('/');
    expect([shown.status, shown.headers['set-cookie']]).toEqual([200, undefined]);
    expect(shown.text).toContain(ids[0]);
  });

  test.each([
    'evil.example',
    'evil.example:8788',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '192.168.0.7',
  ])('is refused for the name %j, even with the token [DS-VIEW-02]', async (host) => {
    const { runtime, ids } = await openFolder();
    const { origin, authorization } = await openView([runtime]);
    for (const path of ['/', `/runs/${ids[0]}`]) {
      const { status, text, headers } = await ask(origin, path, { headers: { host, authorization } });
      expect([status, text.includes(ids[0]), headers['set-cookie']]).toEqual([
        expect.toSatisfy((code) => code === 403 || code === 400),
        false,
        undefined,
      ]);
    }
  });

  test('works under names of this machine, as behind a tunnel [DS-VIEW-02]', async () => {
    const { runtime } = await openFolder();
    const { origin, authorization } = await openView([runtime]);
    const { status } = await ask(origin, '/', { headers: { host: 'localhost:9999', authorization } });
    expect(status).toBe(200);
  });

  test.each(['0.0.0.0', '::', '192.168.0.7', 'example.org'])(
    'it does not listen at %s [DS-VIEW-02]',
    async (host) => {
      const options = { runtimes: [], files: [], port: 0, userName: 'ada' };
      expect(await codeOf(() => serveView({ ...options, host }))).toBe('LISTEN_FAILED');
    },
  );
});

describe('rating', () => {
  test.each([
    { what: 'the token', headers: { authorization: '' }, status: 403 },
    { what: 'the right token', headers: { authorization: 'Bearer guess' }, status: 403 },
    { what: 'JSON, as forms of other sites', headers: { 'content-type': 'text/plain' }, status: 415 },
    { what: 'a type', headers: { 'content-type': '' }, status: 415 },
    { what: 'its own origin', headers: { origin: 'http://evil.example' }, status: 403 },
    { what: 'its own port', headers: { origin: 'http://127.0.0.1:1' }, status: 403 },
    { what: 'an origin', headers: { origin: 'null' }, status: 403 },
    { what: 'its own site', headers: { 'sec-fetch-site': 'same-site' }, status: 403 },
  ])('is refused without $what [DS-VIEW-03]', async ({ headers, status }) => {
    const { runtime, ids } = await openFolder();
    const { rate } = await openView([runtime]);
    for (const method of ['POST', 'DELETE'])
      expect((await rate(ids[0], rating, { method, headers: { ...headers } })).status).toBe(status);
    const { ratings } = await runtime.evals.runs.open(ids[0]);
    expect(await Array.fromAsync(ratings?.() ?? [])).toEqual([]);
    expect((await rate(ids[0], rating)).status).toBe(200);
  });

  test('no answer can be read by another origin, framed, cached or type-sniffed [DS-VIEW-03]', async () => {
    const { runtime, ids } = await openFolder();
    const { origin, get, rate, authorization } = await openView([runtime]);
    const preflight = {
      authorization,
      origin: 'http://evil.example',
      'access-control-request-method': 'POST',
    };
    const answers = [
      await get('/'),
      await get(`/runs/${ids[0]}`),
      await get('/nothing'),
      await rate(ids[0], rating),
      await ask(origin, `/runs/${ids[0]}/ratings`, { method: 'OPTIONS', headers: preflight }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200, 405]);
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
  });

  test.each([
    ['no JSON', 'score=1', 400],
    ['another shape', { ...rating, score: 'high' }, 400],
    ['a score beyond 1', { ...rating, score: 2 }, 400],
    ['nothing said', { case: 'one', by: 'eve' }, 400],
    ['an unknown case', { ...rating, case: 'three' }, 404],
    ['an unknown eval', { ...rating, eval: 'other' }, 404],
    ['200 KB', { ...rating, comment: 'x'.repeat(200_000) }, 400],
  ])('%s is refused with what is wrong', async (_what, body, status) => {
    const { runtime, ids } = await openFolder();
    const { rate } = await openView([runtime]);
    const answer = await rate(ids[0], body);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      status,
      { error: { code: expect.any(String) } },
    ]);
  });
});

test('foreign text stays text in every page [DS-VIEW-04]', async () => {
  const { runtime, ids } = await openFolder();
  const { get, rate } = await openView([runtime]);
  await rate(ids[0], { ...rating, comment: hostile, label: hostile, by: hostile.slice(0, 100) });
  const paths = [
    '/',
    `/?suite=${encodeURIComponent(hostile)}`,
    `/runs/${ids[0]}`,
    `/compare?a=${ids[0]}&b=${ids[1]}`,
  ];
  for (const path of [...paths, `/runs/${encodeURIComponent(hostile)}`]) {
    const { text } = await get(path);
    expect([path, text.includes('\u001b')]).toEqual([path, false]);
    expect(text).not.toMatch(/<script>alert|<img src=x/);
    expect(text).not.toMatch(/(?:href|src|action)="javascript:/);
  }
});

test.each([
  '/runs/../../etc/passwd',
  '/runs/..%2f..%2fetc%2fpasswd',
  '/../runtime.yaml',
  '/%2e%2e/x',
  '/runs/%00',
  '/runs/',
])('%s is no page [DS-VIEW-04]', async (path) => {
  const { runtime } = await openFolder();
  const { get } = await openView([runtime]);
  const { status, text } = await get(path);
  expect([status, /root:x:|kind: RuntimeConfig/.test(text)]).toEqual([404, false]);
});

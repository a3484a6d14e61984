import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serveEvals } from '../../../src/console/serve.ts';
import { openShelf } from '../../../src/runtime/view/shelf.ts';
import { codeOf } from '../../store/result-contract.ts';
import { suite } from '../../workspace.ts';
import { keysOf, serve } from '../serving.ts';
import { ask, hostile, openFolder, openView } from './support.ts';

const rating = { case: 'one', score: 1 };

describe('access to the view', () => {
  test('a file that does not exist any more is 404, and the other files are shown', async () => {
    const { get } = await openView([], ['gone.jsonl']);
    expect(await get('/evals/runs/file-1/report')).toMatchObject({ status: 404 });
    expect(await get('/evals/runs')).toMatchObject({ status: 200 });
  });

  test('needs the token of this start, whose address is printed in a fragment, and no cookie is set [DS-VIEW-01]', async () => {
    const { runtime, ids } = await openFolder();
    const { origin, token, authorization, get } = await openView([runtime]);
    const runs = '/api/v1/evals/runs';
    const paths = [runs, `${runs}/${ids[0]}/report`, '/api/v1/me', '/api/v1/nothing'];
    const entered = [
      {},
      { cookie: `key=${token}` },
      { authorization: `${authorization}x` },
      { authorization: token },
    ];
    for (const path of [...paths, `${runs}/${ids[0]}/case?case=one`, `/console/evals/${ids[0]}`])
      for (const headers of entered) {
        const refused = await ask(origin, path, { headers });
        const isPage = path.startsWith('/console');
        expect([path, refused.status, refused.headers['set-cookie']]).toEqual([
          path,
          isPage ? 200 : 401,
          undefined,
        ]);
        expect(refused.text).not.toContain(ids[0]);
        expect(refused.text).not.toContain(token);
      }
    const shown = await get('/evals/runs');
    expect([shown.status, shown.headers['set-cookie']]).toEqual([200, undefined]);
    expect(shown.text).toContain(ids[0]);
  });

  test.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'localhost:1',
    '192.168.0.7',
  ])('is refused for the name %j, even with the token [DS-VIEW-02]', async (host) => {
    const { runtime, ids } = await openFolder();
    const { origin, authorization } = await openView([runtime]);
    for (const path of ['/console', '/api/v1/evals/runs', `/api/v1/evals/runs/${ids[0]}/report`]) {
      const { status, text } = await ask(origin, path, { headers: { host, authorization } });
      expect([path, status, text.includes(ids[0])]).toEqual([path, 403, false]);
    }
  });

  test.each(['0.0.0.0', '::', '192.168.0.7', 'example.org'])(
    'it does not listen at %s [DS-VIEW-02]',
    async (host) => {
      const options = { host, port: 0, userName: 'ada', version: '1.2.3' };
      const shelf = openShelf({ runtimes: [], files: [] });
      expect(await codeOf(() => serveEvals(shelf, options))).toBe('LISTEN_FAILED');
    },
  );

  test('shows runs of suites only', async () => {
    const { get } = await openView([]);
    expect(JSON.parse((await get('/me')).text)).toMatchObject({
      name: 'ada',
      sections: ['evals'],
      runtime: null,
    });
    for (const path of ['/pendings', '/runs', '/decisions']) expect((await get(path)).status).toBe(404);
  });
});

describe('rating', () => {
  test.each([
    { what: 'the token', headers: { authorization: '' }, status: 401 },
    { what: 'the right token', headers: { authorization: 'Bearer guess' }, status: 401 },
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
      await ask(origin, `/console/evals/${ids[0]}`),
      await get('/evals/runs'),
      await get(`/evals/runs/${ids[0]}/report`),
      await get('/nothing'),
      await rate(ids[0], rating),
      await ask(origin, `/api/v1/evals/runs/${ids[0]}/ratings`, { method: 'OPTIONS', headers: preflight }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 200, 403]);
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
    ['nothing said', { case: 'one' }, 400],
    ['another name', { ...rating, by: 'eve' }, 400],
    ['an unknown case', { ...rating, case: 'three' }, 404],
    ['an unknown eval', { ...rating, eval: 'other' }, 404],
    ['200 KB', { ...rating, comment: 'x'.repeat(200_000) }, 413],
  ])('%s is refused with what is wrong', async (_what, body, status) => {
    const { runtime, ids } = await openFolder();
    const { rate } = await openView([runtime]);
    const answer = await rate(ids[0], body);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      status,
      { error: { code: expect.any(String) } },
    ]);
  });

  test('needs the role, and has the name of the key', async () => {
    const evals =
      'cases: [{id: one, content: x}]\nevals: [{id: exact, type: contains, params: {patterns: [x]}}]\n';
    const { folder, runtime, ask: call } = await serve('', { 's.suite.yaml': suite(evals) });
    const { run_id: id } = await runtime.evals.run(join(folder, 's.suite.yaml'));
    const keys = await keysOf(folder);
    const [viewer, approver] = [
      await keys.create({ name: 'vera', role: 'viewer' }),
      await keys.create({ name: 'aldo', role: 'approver' }),
    ];
    const path = `/evals/runs/${id}`;
    const as = async ({ key }: { readonly key: string }) => ({
      report: (await call(`GET ${path}/report`, { key })).text.split('\n', 1)[0],
      rated: await call(`POST ${path}/ratings`, { key, body: rating }),
    });
    const [seen, done] = [await as(viewer), await as(approver)];
    expect([seen.report, seen.rated.status]).toEqual(['served {"by":null}', 403]);
    expect([done.report, done.rated.status]).toEqual(['served {"by":"aldo"}', 200]);
    expect(done.rated.body).toMatchObject({ case: 'one', by: 'aldo', score: 1 });
  });
});

test.each([
  '/evals/runs/../../etc/passwd/report',
  '/evals/runs/..%2f..%2fetc%2fpasswd/report',
  '/evals/runs/%00/report',
  '/evals/runs//report',
  `/evals/runs/${encodeURIComponent(hostile)}/report`,
])('%j is no run [DS-VIEW-04]', async (path) => {
  const { runtime } = await openFolder();
  const { get } = await openView([runtime]);
  const { status, text } = await get(path);
  expect([status, /root:x:|kind: RuntimeConfig/.test(text)]).toEqual([404, false]);
});

import { expect, test } from 'vitest';
import { listen, type Reply } from './endpoint.ts';
import { openClaude } from './scripts.ts';

const deny = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'not here',
  },
};
const opened = {
  verdict: 'allow',
  reason: '',
  metadata: { failed_open: { hook: expect.any(String), cause: 'claude.http_error' } },
};

test('an http handler receives the stdin object by POST, with the permitted headers [CC-1-08@http CC-1-09@http]', async () => {
  const { got, url } = await listen({ '/hook?team=a': { body: JSON.stringify(deny) } });
  const headers = { Authorization: 'Bearer $TOKEN', 'X-Team': '${TEAM}', 'X-None': '[$HOME$SECRET]' };
  const { runtime, folder } = await openClaude(
    {
      PreToolUse: [
        {
          matcher: 'Bash',
          hooks: [
            { type: 'http', url: `${url}/hook?team=a`, headers, allowedEnvVars: ['TOKEN', 'TEAM', 'HOME'] },
          ],
        },
      ],
    },
    {
      more: ', env: [TOKEN, TEAM=core, SECRET]',
      options: { env: { PATH: process.env['PATH'], TOKEN: 't0', SECRET: 's', HOME: '/home/x' } },
    },
  );
  const payload = { tool_name: 'Bash', tool_input: { command: 'ls' }, session_id: 's1' };
  const { verdict, hook, reason } = await runtime.hooks.fire({
    dialect: 'claude',
    point: 'PreToolUse',
    payload,
  });
  expect({ verdict, hook, reason }).toEqual({ verdict: 'deny', hook: 'PreToolUse-1', reason: 'not here' });
  const [request] = got;
  expect(request).toMatchObject({
    method: 'POST',
    path: '/hook?team=a',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer t0',
      'x-team': 'core',
      'x-none': '[]',
    },
  });
  expect(JSON.parse(request?.body ?? '')).toEqual({
    session_id: 's1',
    prompt_id: expect.any(String),
    transcript_path: expect.stringMatching(/\.jsonl$/),
    cwd: folder,
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: expect.any(String),
  });
});

const rows: readonly {
  readonly title: string;
  readonly path: string;
  readonly reply: Reply;
  readonly means: object;
}[] = [
  {
    title: 'an empty 2xx is no decision',
    path: '/empty',
    reply: { status: 204 },
    means: { verdict: 'allow', reason: '', metadata: {} },
  },
  {
    title: 'an object decides',
    path: '/object',
    reply: { body: JSON.stringify(deny) },
    means: { verdict: 'deny', reason: 'not here', metadata: {} },
  },
  { title: 'a text is an error', path: '/text', reply: { body: 'no' }, means: opened },
  {
    title: 'a status alone blocks nothing, nor does the JSON beside it',
    path: '/forbidden',
    reply: { status: 403, body: JSON.stringify(deny) },
    means: opened,
  },
  {
    title: 'a redirect is not followed',
    path: '/moved',
    reply: { status: 307, headers: { location: '/object' } },
    means: opened,
  },
  {
    title: 'an answer that does not come in time is a timeout',
    path: '/late',
    reply: { isLate: true },
    means: { ...opened, metadata: { failed_open: { hook: expect.any(String), cause: 'claude.timeout' } } },
  },
];

test('an endpoint’s answer counts as the reference says [CC-1-08@http CC-6-04@http CC-6-13@http]', async () => {
  const { got, url } = await listen(Object.fromEntries(rows.map(({ path, reply }) => [path, reply])));
  const { runtime } = await openClaude({
    PreToolUse: rows.map(({ path }) => ({
      matcher: path.slice(1),
      hooks: [{ type: 'http', url: `${url}${path}`, timeout: path === '/late' ? 0.2 : 10 }],
    })),
  });
  const said = await Promise.all(
    rows.map(async ({ title, path }) => {
      const payload = { tool_name: path.slice(1), tool_input: {} };
      const { verdict, reason, metadata } = await runtime.hooks.fire({
        dialect: 'claude',
        point: 'PreToolUse',
        payload,
      });
      return [title, { verdict, reason, metadata }];
    }),
  );
  expect(Object.fromEntries(said)).toEqual(
    Object.fromEntries(rows.map(({ title, means }) => [title, means])),
  );
  expect(got.map(({ path }) => path).toSorted()).toEqual(rows.map(({ path }) => path).toSorted());
});

test('an unreachable endpoint is an error, which on_failure: deny closes [CC-6-13@http CC-9-02]', async () => {
  const hooks = { PreToolUse: [{ hooks: [{ type: 'http', url: 'http://127.0.0.1:1/x' }] }] };
  const payload = { tool_name: 'Bash', tool_input: {} };
  const fired = ['', ', on_failure: deny'].map(async (more) => {
    const { runtime } = await openClaude(hooks, { more });
    const { verdict, metadata } = await runtime.hooks.fire({
      dialect: 'claude',
      point: 'PreToolUse',
      payload,
    });
    return [verdict, metadata];
  });
  const about = { hook: 'PreToolUse-1', cause: 'claude.http_error' };
  expect(await Promise.all(fired)).toEqual([
    ['allow', { failed_open: about }],
    ['deny', { failed_closed: about }],
  ]);
});

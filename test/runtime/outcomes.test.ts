import { expect, test } from 'vitest';
import type { Runtime } from '../../src/index.ts';
import { onTransports } from '../cite.ts';
import { allOf } from '../process/harness.ts';
import { open } from './open.ts';

const dying = {
  oneshot: { runs: 'command: $bin/crash.sh', code: 'PROCESS_EXIT' },
  server: { runs: 'command: $bin/server, args: [dies-during], runtime: server', code: 'SERVER_EXIT' },
} as const;

const rows = onTransports([
  {
    title: 'a tool is failed',
    cites: 'PK-2-18@oneshot PK-5-41@server DS-JSON-08',
    spec: (runs: string) => `tools: {calc: {exec: {${runs}}}}\n`,
    call: ({ tools }: Runtime): Promise<unknown> => tools.call('calc'),
    document: { status: 'failed' },
    more: { details: expect.any(Object) },
  },
  {
    title: 'an eval is unscored',
    cites: 'PK-7-10@oneshot PK-7-16@server DS-JSON-08',
    spec: (runs: string) => `evals: {calc: {${runs}}}\n`,
    call: ({ evals }: Runtime): Promise<unknown> => evals.call('calc', { content: '' }),
    document: { status: 'unscored', reason: expect.any(String), passed: false },
    more: { details: expect.any(Object) },
  },
  {
    title: 'a filter denies',
    cites: 'PK-6-32@oneshot PK-6-38@server DS-JSON-08',
    spec: (runs: string) => `hooks: {calc: {${runs}, hook: provider}}\n`,
    call: ({ hooks }: Runtime): Promise<unknown> =>
      hooks.fire({ hook: 'provider', phase: 'before_call', request: {} }),
    document: {
      verdict: 'deny',
      hook: 'calc',
      dialect: 'promptkit',
      reason: expect.stringMatching(/^the hook failed: /),
      enforced: false,
      replace: null,
      result: null,
      context: [],
      abort: null,
      metadata: {},
    },
    more: {},
  },
]);

test.each(rows)('when its process dies, $title, with the fault in `error`', async (row) => {
  const { runs, code } = dying[row.on];
  const { runtime } = await open(row.spec(runs));
  const error = { code, message: expect.any(String), hint: expect.any(String), ...row.more };
  expect(await row.call(runtime)).toEqual({ ...row.document, error });
});

const observers = onTransports([
  { title: 'a session observer', cites: 'PK-6-57@both', hook: 'session', event: { session_id: 's-1' } },
  { title: 'an eval observer', cites: 'PK-6-57@both', hook: 'eval', event: { type: 'tone' } },
] as const);

test.each(observers)(
  'when its process dies, $title is reported as undelivered, and has no effect',
  async (row) => {
    const { runs, code } = dying[row.on];
    const { runtime, events } = await open(`hooks: {audit: {${runs}, hook: ${row.hook}}}\n`);
    const { hook, event } = row;
    const moment = hook === 'session' ? { hook, phase: 'session_start' } : { hook };
    const decision = await runtime.hooks.fire({ ...moment, event });
    await runtime.close();
    expect(decision).toMatchObject({ verdict: 'allow', hook: null });
    expect(allOf(events, 'call.finished')).toEqual([
      expect.objectContaining({ name: 'audit', status: 'untold', error: expect.objectContaining({ code }) }),
    ]);
  },
);

test('a server that dies between two calls answers both', async () => {
  const { runtime, events } = await open(
    'tools: {calc: {exec: {command: $bin/server, args: [dies-between], runtime: server}}}\n',
  );
  const documents = [];
  for (const n of [1, 2, 3]) {
    documents.push(await runtime.tools.call('calc', { n }));
    await expect.poll(() => allOf(events, 'process.ended').length).toBe(n);
  }
  expect(documents).toEqual([1, 2, 3].map((n) => ({ status: 'ok', result: { n } })));
});

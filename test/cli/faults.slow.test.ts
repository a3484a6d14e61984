import { test } from 'vitest';
import { titled } from '../cite.ts';
import { fixture, logLines, runJson, workspace } from './command-line.ts';

/** A hook, tool or eval entry of a fixture, without the braces: on a server when `behaviour` is one of its words. */
const entry = (command: string, args: readonly string[] = []) =>
  `command: ${command.startsWith('./') ? command : fixture(command)}, args: ${JSON.stringify(args)}`;

const event = '{"request": {"messages": [{"role": "user", "content": "hi"}]}}';
const beforeCall = ['hook', 'fire', '--hook', 'provider', '--phase', 'before_call', '--event', event];

const filters = titled([
  { title: 'crashes', cites: 'DS-JSON-08', runs: entry('crash.sh'), code: 'PROCESS_EXIT' },
  { title: 'is killed', cites: 'DS-JSON-08', runs: entry('killed-by-signal.sh'), code: 'PROCESS_SIGNAL' },
  {
    title: 'hangs',
    cites: 'DS-JSON-08',
    runs: `${entry('hang.sh')}, timeout_ms: 500`,
    code: 'PROCESS_TIMEOUT',
  },
  { title: 'prints garbage', cites: 'DS-JSON-08', runs: entry('garbage.sh'), code: 'REPLY_MALFORMED' },
  {
    title: 'prints two objects',
    cites: 'DS-JSON-08',
    runs: entry('two-objects.sh'),
    code: 'REPLY_MALFORMED',
  },
  {
    title: 'prints {"allow": "true"}',
    cites: 'DS-JSON-08',
    runs: entry('allow-string.sh'),
    code: 'REPLY_MALFORMED',
  },
  { title: 'prints nothing', cites: 'DS-JSON-08', runs: entry('silent.sh'), code: 'REPLY_MALFORMED' },
  { title: 'floods stdout', cites: 'DS-JSON-08', runs: entry('flood.sh'), code: 'OUTPUT_LIMIT' },
  { title: 'is missing', cites: 'DS-JSON-08', runs: entry('./nowhere.sh'), code: 'PROCESS_START' },
  {
    title: 'allows and exits 1',
    cites: 'DS-JSON-08',
    runs: entry('crash-after-reply.sh'),
    code: 'PROCESS_EXIT',
  },
]);

test.concurrent.for(filters)(
  'a filter that $title denies, and says why',
  async ({ runs, code }, { expect }) => {
    const folder = workspace(`
defaults: {grace_ms: 100, max_output_bytes: 65536}
hooks: {guard: {${runs}, hook: provider}}
`);
    const ran = await runJson([...beforeCall, '--log-level', 'silent'], { cwd: folder });
    expect(ran).toEqual({
      code: 1,
      document: {
        verdict: 'deny',
        hook: 'guard',
        dialect: 'promptkit',
        reason: expect.stringMatching(/^hook "guard" (failed|gave no verdict): /),
        enforced: false,
        replace: null,
        result: null,
        context: [],
        abort: null,
        asked: ['guard'],
        metadata: {},
        error: expect.objectContaining({ code, message: expect.any(String), hint: expect.any(String) }),
      },
      stderr: '',
    });
  },
);

test.concurrent('a filter that leaves a grandchild with its stdout behind a clean allow allows', async ({
  expect,
}) => {
  const folder = workspace(`hooks: {guard: {${entry('grandchild-holds-stdout.sh')}, hook: provider}}\n`);
  const { code, document } = await runJson([...beforeCall, '--log-level', 'silent'], { cwd: folder });
  expect({ code, document }).toMatchObject({ code: 0, document: { verdict: 'allow', hook: null } });
});

const observers = [
  { title: 'crashes', runs: entry('crash.sh'), told: 'PROCESS_EXIT' },
  { title: 'hangs', runs: `${entry('hang.sh')}, timeout_ms: 500`, told: 'PROCESS_TIMEOUT' },
  { title: 'floods stdout', runs: entry('flood.sh'), told: 'OUTPUT_LIMIT' },
  { title: 'is missing', runs: entry('./nowhere.sh'), told: 'PROCESS_START' },
  { title: 'denies and exits 3', runs: entry('prints.sh', ['{"allow": false}', '3']), told: 'PROCESS_EXIT' },
];

const sessionStart = [
  'hook',
  'fire',
  '--hook',
  'session',
  '--phase',
  'session_start',
  '--event',
  '{"event": {}}',
];

test.concurrent.for(observers)(
  'a session observer that $title has no effect, and is logged at warn [PK-6-57@oneshot]',
  async ({ runs, told }, { expect }) => {
    const folder = workspace(`
defaults: {grace_ms: 100, max_output_bytes: 65536}
hooks: {audit: {${runs}, hook: session}}
`);
    const { code, document, stderr } = await runJson(
      [...sessionStart, '--log-level', 'warn', '--log-format', 'json'],
      {
        cwd: folder,
      },
    );
    expect({ code, document }).toMatchObject({ code: 0, document: { verdict: 'allow', hook: null } });
    expect(logLines(stderr).filter(({ event: type }) => type !== 'note')).toEqual([
      expect.objectContaining({
        level: 40,
        event: 'call.finished',
        name: 'audit',
        status: 'untold',
        error: expect.objectContaining({ code: told }),
      }),
    ]);
  },
);

test.concurrent('whatever a session observer prints, it has been told, and that is all', async ({
  expect,
}) => {
  const prints = [
    'garbage.sh',
    'two-objects.sh',
    'allow-string.sh',
    'silent.sh',
    'deny.sh',
    'grandchild-holds-stdout.sh',
  ];
  const hooks = prints.map((command) => `  "${command}": {${entry(command)}, hook: session}\n`);
  const { code, document, stderr } = await runJson(
    [...sessionStart, '--log-level', 'warn', '--log-format', 'json'],
    {
      cwd: workspace(`hooks:\n${hooks.join('')}`),
    },
  );
  expect({ code, document, stderr }).toMatchObject({
    code: 0,
    document: { verdict: 'allow', hook: null },
    stderr: '',
  });
});

const servers = [
  {
    title: 'dies between calls answers',
    args: ['dies-between'],
    code: 0,
    document: { status: 'ok', result: { a: 1 } },
  },
  {
    title: 'dies during a call fails it, with its last words',
    args: ['dies-during'],
    code: 1,
    document: {
      status: 'failed',
      error: {
        code: 'SERVER_EXIT',
        message: 'the server ended with exit code 7 while the request was in flight: out of memory',
      },
    },
  },
  {
    title: 'answers late fails at its timeout',
    args: ['late', '20000'],
    timeoutMs: 500,
    code: 1,
    document: { status: 'failed', error: { code: 'PROCESS_TIMEOUT' } },
  },
  {
    title: 'answers with a wrong id fails at its timeout',
    args: ['wrong-id'],
    timeoutMs: 500,
    code: 1,
    document: { status: 'failed', error: { code: 'PROCESS_TIMEOUT' } },
  },
  {
    title: 'prints a banner answers',
    args: ['banner-first'],
    code: 0,
    document: { status: 'ok', result: { a: 1 } },
  },
  {
    title: 'is pending waits for a person',
    args: ['pending'],
    code: 3,
    document: { status: 'pending', pending: { reason: 'requires_approval', message: 'Refund 250 EUR?' } },
  },
];

test.concurrent.for(servers)('a server tool that $title', async (row, { expect }) => {
  const { args, timeoutMs = 15_000, code, document } = row;
  const folder = workspace(`
tools: {calc: {exec: {${entry('server', args)}, runtime: server, timeout_ms: ${timeoutMs}, grace_ms: 100}}}
`);
  const called = ['tool', 'call', 'calc', '--args', '{"a": 1}', '--log-level', 'silent'];
  expect(await runJson(called, { cwd: folder })).toMatchObject({ code, document, stderr: '' });
});

const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  cases: [{id: one}, {id: two}, {id: three}, {id: four}]
  case: {id: "\${case.id}", content: ""}
  evals: [{id: e, type: calc, threshold: {min_score: 1}}]
`;

test.concurrent('a server that answers out of order is understood', async ({ expect }) => {
  const folder = workspace(
    `
concurrency: 2
evals: {calc: {${entry('server', ['out-of-order'])}, runtime: server}}
`,
    { 'demo.suite.yaml': suite },
  );
  const { code, document } = await runJson(['eval', 'run', 'demo.suite.yaml'], { cwd: folder });
  expect({ code, document }).toMatchObject({
    code: 0,
    document: { status: 'passed', evals: { e: { count: 4, unscored: 0, mean: 1 } } },
  });
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onTransports, titled } from '../../cite.ts';
import { fixture, logLines, run, runJson, workspace } from './command-line.ts';

/** A hook, tool or eval entry of a fixture, without the braces: on a server when `behaviour` is one of its words. */
const entry = (command: string, args: readonly string[] = []) =>
  `command: ${command.startsWith('./') ? command : fixture(command)}, args: ${JSON.stringify(args)}`;

const event = '{"request": {"messages": [{"role": "user", "content": "hi"}]}}';
const beforeCall = ['hook', 'fire', '--hook', 'provider', '--phase', 'before_call', '--event', event];

const filters = titled([
  { title: 'crashes', cites: 'DS-JSON-08', runs: entry('crash.sh'), code: 'PROCESS_EXIT' },
  { title: 'is killed', cites: 'DS-JSON-08', runs: entry('killed-by-signal.sh'), code: 'PROCESS_SIGNAL' },
  { title: 'hangs', cites: 'DS-JSON-08', runs: entry('hang.sh'), code: 'PROCESS_TIMEOUT' },
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

test.each(filters)('a filter that $title denies, and says why', async ({ runs, code }) => {
  const folder = workspace(`
defaults: {timeout_ms: 1500, grace_ms: 100, max_output_bytes: 65536}
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
      metadata: {},
      error: expect.objectContaining({ code, message: expect.any(String), hint: expect.any(String) }),
    },
    stderr: '',
  });
});

test('a filter that leaves a grandchild with its stdout behind a clean allow allows', async () => {
  const folder = workspace(`hooks: {guard: {${entry('grandchild-holds-stdout.sh')}, hook: provider}}\n`);
  const { code, document } = await runJson([...beforeCall, '--log-level', 'silent'], { cwd: folder });
  expect({ code, document }).toMatchObject({ code: 0, document: { verdict: 'allow', hook: null } });
});

const observers = [
  { title: 'crashes', runs: entry('crash.sh'), told: 'PROCESS_EXIT' },
  { title: 'hangs', runs: entry('hang.sh'), told: 'PROCESS_TIMEOUT' },
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

test.each(observers)(
  'a session observer that $title has no effect, and is logged at warn [DS-OUT-02@oneshot]',
  async ({ runs, told }) => {
    const folder = workspace(`
defaults: {timeout_ms: 1500, grace_ms: 100, max_output_bytes: 65536}
hooks: {audit: {${runs}, hook: session}}
`);
    const { code, document, stderr } = await runJson([...sessionStart, '--log-level', 'warn'], {
      cwd: folder,
    });
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

test.each([
  { title: 'prints garbage', runs: entry('garbage.sh') },
  { title: 'prints two objects', runs: entry('two-objects.sh') },
  { title: 'prints {"allow": "true"}', runs: entry('allow-string.sh') },
  { title: 'prints nothing', runs: entry('silent.sh') },
  { title: 'denies', runs: entry('deny.sh') },
  { title: 'leaves a grandchild with its stdout', runs: entry('grandchild-holds-stdout.sh') },
])('a session observer that $title has been told, and that is all', async ({ runs }) => {
  const folder = workspace(`hooks: {audit: {${runs}, hook: session}}\n`);
  const { code, document, stderr } = await runJson([...sessionStart, '--log-level', 'warn'], { cwd: folder });
  expect({ code, document, stderr }).toMatchObject({ code: 0, document: { verdict: 'allow' }, stderr: '' });
});

test('a session observer on a server that dies has no effect, and is logged at warn [DS-OUT-02@server]', async () => {
  const folder = workspace(
    `hooks: {audit: {${entry('server', ['dies-during'])}, runtime: server, hook: session}}\n`,
  );
  const { code, document, stderr } = await runJson([...sessionStart, '--log-level', 'warn'], { cwd: folder });
  expect({ code, document }).toMatchObject({ code: 0, document: { verdict: 'allow', hook: null } });
  expect(logLines(stderr)).toMatchObject([{ level: 40, name: 'audit', error: { code: 'SERVER_EXIT' } }]);
});

const servers = [
  {
    title: 'dies between calls answers',
    behaviour: 'dies-between',
    code: 0,
    document: { status: 'ok', result: { a: 1 } },
  },
  {
    title: 'dies during a call fails it, with its last words',
    behaviour: 'dies-during',
    code: 1,
    document: {
      status: 'failed',
      error: {
        code: 'SERVER_EXIT',
        message: 'the server "calc" ended with exit code 7 while the request was in flight: out of memory',
      },
    },
  },
  {
    title: 'answers late fails at its timeout',
    behaviour: 'late',
    option: '20000',
    code: 1,
    document: { status: 'failed', error: { code: 'PROCESS_TIMEOUT' } },
  },
  {
    title: 'answers with a wrong id fails at its timeout',
    behaviour: 'wrong-id',
    code: 1,
    document: { status: 'failed', error: { code: 'PROCESS_TIMEOUT' } },
  },
  {
    title: 'prints a banner answers',
    behaviour: 'banner-first',
    code: 0,
    document: { status: 'ok', result: { a: 1 } },
  },
  {
    title: 'is pending waits for a person',
    behaviour: 'pending',
    code: 3,
    document: { status: 'pending', pending: { reason: 'requires_approval', message: 'Refund 250 EUR?' } },
  },
];

test.each(servers)('a server tool that $title', async ({ behaviour, option, code, document }) => {
  const args = [behaviour, ...(option === undefined ? [] : [option])];
  const folder = workspace(`
tools: {calc: {exec: {${entry('server', args)}, runtime: server, timeout_ms: 1500, grace_ms: 100}}}
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

test.each([
  { title: 'dies between calls is started again', behaviour: 'dies-between', concurrency: 1 },
  { title: 'answers out of order is understood', behaviour: 'out-of-order', concurrency: 2 },
])('a server that $title, for as long as a suite has cases', async ({ behaviour, concurrency }) => {
  const cases = behaviour === 'out-of-order' ? suite.replace(', {id: three}, {id: four}', '') : suite;
  const folder = workspace(
    `
concurrency: ${concurrency}
evals: {calc: {${entry('server', [behaviour])}, runtime: server, timeout_ms: 15000}}
`,
    { 'demo.suite.yaml': cases },
  );
  const { code, document } = await runJson(['eval', 'run', 'demo.suite.yaml'], { cwd: folder });
  expect({ code, document }).toMatchObject({
    code: 0,
    document: { status: 'passed', evals: { e: { unscored: 0, mean: 1 } } },
  });
});

const values = onTransports([
  {
    title: 'a tool is failed',
    cites: 'DS-OUT-01@both',
    spec: (runs: string) => `tools: {calc: {exec: {${runs}}}}\n`,
    args: ['tool', 'call', 'calc'],
    document: { status: 'failed' },
  },
  {
    title: 'an eval is unscored',
    cites: 'DS-OUT-01@both',
    spec: (runs: string) => `evals: {calc: {${runs}}}\n`,
    args: ['eval', 'call', 'calc', '--content', ''],
    document: { status: 'unscored', passed: false },
  },
  {
    title: 'a filter denies',
    cites: 'DS-OUT-01@both',
    spec: (runs: string) => `hooks: {calc: {${runs}, hook: provider}}\n`,
    args: beforeCall,
    document: { verdict: 'deny', hook: 'calc' },
  },
]);

const faultOf = { oneshot: 'PROCESS_EXIT', server: 'SERVER_EXIT' } as const;

test.each(values)('when its process dies, $title, with the fault in `error`', async (row) => {
  const runs =
    row.on === 'server' ? `${entry('server', ['dies-during'])}, runtime: server` : entry('crash.sh');
  const { code, document } = await runJson([...row.args, '--log-level', 'silent'], {
    cwd: workspace(row.spec(runs)),
  });
  expect({ code, document }).toMatchObject({
    code: 1,
    document: {
      ...row.document,
      error: { code: faultOf[row.on], message: expect.any(String), hint: expect.any(String) },
    },
  });
});

test('a tool whose file is gone is a failure of the call, with the likely cause', async () => {
  const folder = workspace('tools: {calc: {exec: {command: ./nowhere.sh}}}\n');
  const { code, stderr } = await run(['tool', 'call', 'calc', '--log-level', 'silent'], { cwd: folder });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `failed: [PROCESS_START] "calc" could not be started: ${join(folder, 'nowhere.sh')} does not exist
hint: Check the path; it starts at the config file’s folder.
`,
  });
});

import { test } from 'vitest';
import { fixture, runJson, workspace } from './command-line.ts';

const entry = (args: readonly string[]) => `command: ${fixture('server')}, args: ${JSON.stringify(args)}`;

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
tools: {calc: {exec: {${entry(args)}, runtime: server, timeout_ms: ${timeoutMs}, grace_ms: 100}}}
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
evals: {calc: {${entry(['out-of-order'])}, runtime: server}}
`,
    { 'demo.suite.yaml': suite },
  );
  const { code, document } = await runJson(['eval', 'run', 'demo.suite.yaml'], { cwd: folder });
  expect({ code, document }).toMatchObject({
    code: 0,
    document: { status: 'passed', evals: { e: { count: 4, unscored: 0, mean: 1 } } },
  });
});

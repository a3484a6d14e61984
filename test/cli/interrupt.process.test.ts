import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  awaitsStdin,
  type Circumstances,
  fixture,
  folderOf,
  onlyDocument,
  processesWith,
  start,
  until,
  workspace,
} from './command-line.ts';

let last = 0;

/** A word that only the environment of one test's processes contains. */
function newMarker(): string {
  last += 1;
  return `marker-${process.pid}-${last}`;
}

function marked(marker: string, spec: string, files: Readonly<Record<string, string>> = {}): string {
  return workspace(spec.replaceAll('MARK', `env: [MARK=${marker}]`), files);
}

interface Interrupted {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly marker: string;
  readonly signals?: readonly NodeJS.Signals[];
}

/** Starts a command, sends it signals once a process with the marker runs, and waits for its end. */
async function interrupt({ args, cwd, marker, signals = ['SIGINT'] }: Interrupted, more: Circumstances = {}) {
  const { child, ran } = start(args, { cwd, ...more });
  await until(() => processesWith(marker).length > 0);
  for (const signal of signals) child.kill(signal);
  const { code, stdout } = await ran;
  return { code, signal: child.signalCode, stdout, left: processesWith(marker) };
}

const tools = `
defaults: {grace_ms: 200}
tools:
  hang: {exec: {command: ${fixture('hang-with-child.sh')}, MARK}}
  server: {exec: {command: ${fixture('server')}, args: [never-answers], runtime: server, MARK}}
  deaf: {exec: {command: ${fixture('hang-ignoring-term.sh')}, grace_ms: 60000, MARK}}
  stubborn: {exec: {command: ${fixture('server')}, args: [ignores-term-and-eof], runtime: server, grace_ms: 60000, MARK}}
evals:
  hang: {command: ${fixture('hang-with-child.sh')}, MARK}
hooks:
  slow: {command: ${fixture('hang-with-child.sh')}, hook: session, timeout_ms: 60000, MARK}
  guard: {command: ${fixture('hang-with-child.sh')}, hook: provider, MARK}
`;

const aborted = (name: string) => ({
  code: 'ABORTED',
  message: `the call of "${name}" was aborted`,
  hint: 'Repeat the call if you need its result.',
});

test.concurrent.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s while a tool hangs exits 130 and leaves neither the tool nor its child [DS-EXIT-04]',
  async (signal, { expect }) => {
    const marker = newMarker();
    const args = ['tool', 'call', 'hang', '--json'];
    const { stdout, ...end } = await interrupt({
      args,
      cwd: marked(marker, tools),
      marker,
      signals: [signal],
    });
    expect(end).toEqual({ code: 130, signal: null, left: [] });
    expect(onlyDocument(stdout)).toEqual({ status: 'failed', error: aborted('hang') });
  },
);

const works = [
  {
    title: 'a server tool runs',
    args: ['tool', 'call', 'server'],
    document: { status: 'failed', error: aborted('server') },
  },
  {
    title: 'an eval hangs',
    args: ['eval', 'call', 'hang', '--content', ''],
    document: {
      status: 'unscored',
      reason: 'the call of "hang" was aborted',
      passed: false,
      error: aborted('hang'),
    },
  },
  {
    title: 'a filter hangs: it denies',
    args: ['hook', 'fire', '--hook', 'provider', '--phase', 'before_call', '--event', '{"request": {}}'],
    document: expect.objectContaining({ verdict: 'deny', hook: 'guard', error: aborted('guard') }),
  },
  {
    title: 'a suite runs',
    args: ['eval', 'run', 'demo.suite.yaml'],
    document: {
      error: {
        code: 'ABORTED',
        message: 'the run of suite "demo" was stopped',
        hint: '0 cases are stored; to continue, run the same command with --resume.',
      },
    },
  },
  {
    title: 'a suite runs that is kept nowhere',
    args: ['eval', 'run', 'demo.suite.yaml', '--no-store'],
    document: {
      error: {
        code: 'ABORTED',
        message: 'the run of suite "demo" was stopped',
        hint: 'Nothing of the run was stored, so it cannot be resumed.',
      },
    },
  },
  {
    title: 'an observer is waited for',
    args: ['hook', 'fire', '--hook', 'session', '--phase', 'session_end', '--event', '{"event": {}}'],
    document: expect.objectContaining({ verdict: 'allow' }),
  },
];

const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  cases: [{id: one}, {id: two}, {id: three}, {id: four}, {id: five}, {id: six}, {id: seven}, {id: eight}]
  case: {id: "\${case.id}", content: ""}
  evals: [{id: e, type: hang}]
`;

test.concurrent.for(works)(
  'Ctrl-C while $title exits 130 and leaves no process [DS-EXIT-04]',
  async (row, { expect }) => {
    const marker = newMarker();
    const cwd = marked(marker, tools, { 'demo.suite.yaml': suite });
    const { stdout, ...end } = await interrupt({ args: [...row.args, '--json'], cwd, marker });
    expect(end).toEqual({ code: 130, signal: null, left: [] });
    expect(onlyDocument(stdout)).toEqual(row.document);
  },
);

test.concurrent.for([
  { tool: 'deaf', launcher: 'native' },
  { tool: 'deaf', launcher: 'portable' },
  { tool: 'stubborn', launcher: 'native' },
])(
  'a second signal ends $tool at once, which ignores every other signal ($launcher) [DS-EXIT-04]',
  async ({ tool, launcher }, { expect }) => {
    const marker = newMarker();
    const cwd = marked(marker, tools);
    const TMPDIR = folderOf({});
    // Two different signals: a second SIGINT could merge with a pending first one.
    const { code } = await interrupt(
      { args: ['tool', 'call', tool], cwd, marker, signals: ['SIGINT', 'SIGTERM'] },
      { env: { SIGNALBOX_LAUNCHER: launcher, TMPDIR } },
    );
    expect(code).toBe(130);
    await until(() => processesWith(marker).length === 0);
    expect(readdirSync(TMPDIR)).toEqual([]);
  },
);

test.concurrent('Ctrl-C during a read of stdin exits 130', async ({ expect }) => {
  const { child, ran } = start(['tool', 'call', 'hang', '--args', '-', '--json'], {
    cwd: marked(newMarker(), tools),
    stdin: null,
  });
  await until(() => awaitsStdin(child.pid));
  child.kill('SIGINT');
  const { code, stdout } = await ran;
  expect({ code, document: onlyDocument(stdout) }).toEqual({
    code: 130,
    document: {
      error: {
        code: 'ABORTED',
        message: '--args: reading from stdin was cancelled',
        hint: 'Repeat the call if you need its result.',
      },
    },
  });
});

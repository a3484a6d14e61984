import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'vitest';
import {
  fixture,
  onlyDocument,
  pipeline,
  processesWith,
  runJson,
  start,
  until,
  workspace,
} from './command-line.ts';

const crashes = fileURLToPath(new URL('../fixtures/start/crashes.mjs', import.meta.url));

/** The pipeline's second step: it waits on the first call, and answers on the second. */
const slowOnce = `#!/bin/sh
if [ -e seen ]; then echo '{"result": "done"}'; else : >seen; exec sleep 60; fi
`;

const files = {
  'slow-once.sh': slowOnce,
  'two.pipeline.yaml': pipeline(
    'runtime: ./runtime.yaml\nsteps: [{id: one, tool: quick}, {id: two, tool: slow}]\noutput: "${steps.two.result}"',
  ),
  'demo.suite.yaml': `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  cases: [{id: one}]
  case: {id: "\${case.id}", content: ""}
  evals: [{id: e, type: hang}]
`,
};

const hasSecondStep = (folder: string) => readdirSync(folder).includes('seen');

let last = 0;

function desk() {
  last += 1;
  const marker = `crash-${process.pid}-${last}`;
  const env = `env: [DESK_KEY, MARK=${marker}]`;
  const cwd = workspace(
    `
tools:
  hang: {exec: {command: ${fixture('hang-with-child.sh')}, ${env}}}
  quick: {exec: {command: ${fixture('null-result.sh')}, ${env}}}
  slow: {exec: {command: ./slow-once.sh, ${env}}}
evals:
  hang: {command: ${fixture('hang-with-child.sh')}, ${env}}
`,
    files,
  );
  return { cwd, marker };
}

/** Starts a command, makes it fail in that way once a process runs, and waits for its end. */
async function crash(way: string, args: readonly string[], isReady = (_folder: string) => true) {
  const { cwd, marker } = desk();
  const env = { CRASH: way, DESK_KEY: 'sk-secret-4711', NODE_OPTIONS: `--import=${crashes}` };
  const { child, ran } = start(args, { cwd, env });
  await until(() => processesWith(marker).some((pid) => pid !== child.pid) && isReady(cwd));
  child.kill('SIGUSR2');
  const { code, stdout, stderr } = await ran;
  await until(() => processesWith(marker).length === 0);
  return { cwd, code, stdout, stderr, lastLine: stderr.trimEnd().split('\n').at(-1) };
}

test.concurrent.for([
  'throws',
  'rejects',
  'rejects with text',
  'fails in a stream',
  'fails in a thread',
  'has a stream without a listener',
])(
  'a process that %s ends with its children, a last line with a code, one document and no secret [DS-CRASH-01]',
  async (way, { expect }) => {
    const { code, stdout, stderr, lastLine } = await crash(way, ['tool', 'call', 'hang', '--json']);
    expect({ code, lastLine }).toEqual({
      code: 1,
      lastLine: expect.stringMatching(/^error: \[INTERNAL\] .*boom \[redacted\]/),
    });
    expect(onlyDocument(stdout)).toMatchObject({
      error: { code: 'INTERNAL', message: expect.stringContaining('boom [redacted]') },
    });
    expect(stdout + stderr).not.toContain('sk-secret');
  },
);

test.concurrent('a crash is no verdict: it exits 2 where 1 is a verdict [DS-CRASH-01]', async ({
  expect,
}) => {
  const { code, stdout } = await crash('throws', ['eval', 'run', 'demo.suite.yaml']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test.concurrent('a run that a crash interrupted can be resumed [DS-CRASH-02]', async ({ expect }) => {
  const { cwd, code } = await crash('rejects', ['run', 'two.pipeline.yaml', '--json'], hasSecondStep);
  expect(code).toBe(1);
  const { document: listed } = await runJson('runs list', { cwd, binary: true });
  const [{ run_id: id, status }] = (listed as { runs: [{ run_id: string; status: string }] }).runs;
  expect(status).toBe('cut_off');
  const { code: resumed, document } = await runJson(`runs resume ${id}`, { cwd, binary: true });
  expect({ resumed, document }).toMatchObject({
    resumed: 0,
    document: { status: 'completed', output: 'done' },
  });
});

test.concurrent('what a run leaves when memory runs out is ended, and the next process continues the run [DS-CRASH-02]', async ({
  expect,
}) => {
  const { cwd, marker } = desk();
  const env = {
    CRASH: 'fills memory',
    DESK_KEY: 'x',
    NODE_OPTIONS: `--import=${crashes} --max-old-space-size=64`,
  };
  const { child, ran } = start(['run', 'two.pipeline.yaml'], { cwd, env });
  await until(() => hasSecondStep(cwd));
  child.kill('SIGUSR2');
  await ran;
  expect(child.signalCode).toBe('SIGABRT');
  await until(() => processesWith(marker).length === 0);
  const { document: listed } = await runJson('runs list', { cwd, binary: true });
  const [{ run_id: id }] = (listed as { runs: [{ run_id: string }] }).runs;
  const { code, document } = await runJson(`runs resume ${id}`, { cwd, binary: true });
  expect({ code, document }).toMatchObject({ code: 0, document: { status: 'completed', output: 'done' } });
});

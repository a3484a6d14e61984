import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'vitest';
import {
  fixture,
  logLines,
  onlyDocument,
  type Ran,
  run,
  runShown,
  signalbox,
  start,
  workspace,
} from './command-line.ts';

const desk = workspace(
  `
tools:
  noisy: {exec: {command: sh, args: ['-c', 'for i in 1 2 3 4 5; do echo "line $i" >&2; sleep 0.02; done; echo "{\\"result\\": 1}"']}}
  long: {exec: {command: sh, args: ['-c', 'dd if=/dev/zero bs=1024 count=300 2>/dev/null | tr "\\0" x | sed "s/.*/{\\"result\\": \\"&\\"}/"']}}
evals:
  score: {command: ${fixture('eval-score')}}
hooks:
  pass: {command: ${fixture('allow.sh')}, hook: provider}
`,
  {
    'demo.suite.yaml': `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: demo}
spec:
  runtime: ./runtime.yaml
  cases: [{id: one}]
  case: {id: "\${case.id}", content: ""}
  evals: [{id: e, type: score, params: {score: 1}}]
`,
  },
);

const fire = ['hook', 'fire', '--hook', 'provider', '--phase', 'before_call', '--event', '{"request": {}}'];
const suite = ['eval', 'run', 'demo.suite.yaml'];
const hasScript = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'script')));
const esc = '\u001b';

/** Runs a shell line in which "$@" is the command. */
async function runInShell(line: string, args: readonly string[]): Promise<Ran> {
  return await start([...signalbox, ...args], { cwd: desk }, ['sh', '-c', line, 'sh']).ran;
}

/** Calls a command on streams that claim to be terminals; returns their output together. */
async function showOnTerminal(
  args: readonly string[],
  terminal: 'both' | 'stdout' | 'stderr' = 'both',
  env: Record<string, string> = {},
) {
  const { code, screen } = await runShown(args, { cwd: desk, env, terminal });
  return { code, screen: screen.replaceAll('\r\n', '\n') };
}

/** Runs a command in a terminal of its own; returns stdout and stderr together. */
async function runOnTerminal(args: readonly string[], redirection = '', env: Record<string, string> = {}) {
  const words = [...signalbox, ...args].map((word) => `'${word}'`);
  const line = `stty cols 100; ${words.join(' ')} ${redirection}`;
  const { stdout, code } = await start([], { cwd: desk, env }, ['script', '-qec', line, '/dev/null']).ran;
  return { code, screen: stdout.replaceAll('\r\n', '\n') };
}

test.skipIf(!hasScript).concurrent('a terminal gets colours', async ({ expect }) => {
  expect(await runOnTerminal(fire)).toEqual({ code: 0, screen: `${esc}[32mallow${esc}[39m\nasked: pass\n` });
});

test.concurrent.for([
  { title: 'NO_COLOR=1', args: fire, env: { NO_COLOR: '1' } },
  { title: '--no-color', args: [...fire, '--no-color'], env: {} },
])('a terminal gets no colours with $title', async ({ args, env }, { expect }) => {
  expect(await showOnTerminal(args, 'both', env)).toEqual({ code: 0, screen: 'allow\nasked: pass\n' });
});

test.concurrent('an empty NO_COLOR has no effect', async ({ expect }) => {
  const { screen } = await showOnTerminal(fire, 'both', { NO_COLOR: '' });
  expect(screen).toContain(`${esc}[32mallow`);
});

test
  .skipIf(!hasScript)
  .concurrent('a suite shows a progress line and removes it again', async ({ expect }) => {
    const { code, screen } = await runOnTerminal(suite);
    expect(code).toBe(0);
    expect(screen).toMatch(new RegExp(`^\\r${esc}\\[2K.*1/1 case.*\\r${esc}\\[2K${esc}\\[1mdemo`, 's'));
  });

test.concurrent.for([
  { title: 'with --quiet', args: [...suite, '--quiet'], terminal: 'both' as const },
  { title: 'with --json', args: [...suite, '--json'], terminal: 'both' as const },
  { title: 'when stderr is no terminal', args: suite, terminal: 'stdout' as const },
])('a suite shows no progress line $title', async ({ args, terminal }, { expect }) => {
  const { stdout, stderr } = await run(args, { cwd: desk, terminal });
  expect(stdout + stderr).not.toContain('\r');
});

test.concurrent('--json prints the same document on a terminal', async ({ expect }) => {
  const { screen } = await showOnTerminal([...fire, '--json']);
  expect(onlyDocument(screen)).toMatchObject({ verdict: 'allow' });
});

const words = ['1', '2', '3', '4', '5'].map((number) => `noisy: line ${number}`);

test
  .skipIf(!hasScript)
  .concurrent('a log on a terminal is coloured text, one line for each entry', async ({ expect }) => {
    const { screen } = await runOnTerminal(['tool', 'call', 'noisy'], '>/dev/null');
    const lines = screen.split('\n').filter(Boolean);
    const pattern = new RegExp(
      `^\\[\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\] ${esc}\\[32mINFO${esc}\\[39m: ${esc}\\[36m(.*)${esc}\\[39m$`,
    );
    expect(lines.map((line) => pattern.exec(line)?.[1])).toEqual(words);
  });

test.concurrent.for([
  { title: 'NO_COLOR=1', args: [], env: { NO_COLOR: '1' } },
  { title: '--no-color', args: ['--no-color'], env: {} },
])('a log on a terminal is text without colours with $title', async ({ args, env }, { expect }) => {
  const { screen } = await showOnTerminal(['tool', 'call', 'noisy', ...args], 'stderr', env);
  const lines = screen.split('\n').filter(Boolean);
  const pattern = /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: (.*)$/;
  expect(lines.map((line) => pattern.exec(line)?.[1])).toEqual(words);
});

test.concurrent('a log in JSON has one line for each entry', async ({ expect }) => {
  const { stderr } = await run('tool call noisy --log-format json', { cwd: desk });
  expect(logLines(stderr).map(({ level, event, name, msg }) => ({ level, event, name, msg }))).toEqual(
    words.map((msg) => ({ level: 30, event: 'stderr', name: 'noisy', msg })),
  );
});

test.concurrent('a reader of stdout may close it early', async ({ expect }) => {
  const { stdout, stderr } = await runInShell('{ "$@"; echo "$?" >code; } | head -c 10', [
    'tool',
    'call',
    'long',
  ]);
  expect({ stdout, stderr }).toEqual({ stdout: 'x'.repeat(10), stderr: '' });
  expect(readFileSync(join(desk, 'code'), 'utf8')).toBe('0\n');
});

test.concurrent('a reader of stderr may close it early', async ({ expect }) => {
  const line = '{ "$@" >document; echo "$?" >code-2; } 2>&1 | head -n 1';
  const { stdout } = await runInShell(line, ['tool', 'call', 'noisy', '--json']);
  expect(stdout).toContain('noisy: line 1');
  expect(readFileSync(join(desk, 'document'), 'utf8')).toBe('{"status":"ok","result":1}\n');
  expect(readFileSync(join(desk, 'code-2'), 'utf8')).toBe('0\n');
});

test.skipIf(!isWritable('/dev/full')).concurrent.for([
  { title: 'a document', args: [...fire, '--json'], exit: 1 },
  { title: 'the report of a suite, whose 1 would be a verdict,', args: [...suite, '--quiet'], exit: 2 },
])('$title that cannot be written is a failure', async ({ args, exit }, { expect }) => {
  const { code, stderr } = await runInShell('"$@" >/dev/full', args);
  expect({ code, stderr }).toEqual({
    code: exit,
    stderr: expect.stringMatching(/^error: stdout cannot be written \(ENOSPC/),
  });
});

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

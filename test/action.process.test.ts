import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { builtProgram } from './built.ts';

const root = join(import.meta.dirname, '..');
const action = parse(readFileSync(join(root, 'action.yml'), 'utf8'));
const [step] = action.runs.steps;

/** A folder with a passing and a failing suite, and `npx signalbox` installed as in a project. */
function openProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'action-'));
  const suite = (name: string, answer: string) => `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: ${name}}
spec:
  runtime: ../runtime.yaml
  cases: [{id: one, content: "${answer}"}]
  evals: [{id: greets, type: contains, params: {patterns: ["Hello"]}}]
`;
  mkdirSync(join(folder, 'evals'));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(builtProgram, join(folder, 'node_modules/.bin/signalbox'));
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  writeFileSync(join(folder, 'runtime.yaml'), 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n');
  writeFileSync(join(folder, 'evals/good one.suite.yaml'), suite('good', 'Hello, Ada!'));
  writeFileSync(join(folder, 'evals/bad.suite.yaml'), suite('bad', 'Go away!'));
  return folder;
}

function runStep(folder: string, inputs: Readonly<Record<string, string>>) {
  const [summary, output] = ['summary', 'output'].map((name) => join(folder, name));
  const defaults = Object.entries<{ default?: string }>(action.inputs).map(([name, input]) => [
    name,
    input.default ?? '',
  ]);
  const given: Readonly<Record<string, string>> = { ...Object.fromEntries(defaults), ...inputs };
  const env = Object.entries<string>(step.env).map(([name, value]) => [
    name,
    value.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input: string) => given[input] ?? ''),
  ]);
  const { PATH, HOME } = process.env;
  const ran = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run], {
    cwd: folder,
    env: {
      PATH,
      HOME,
      RUNNER_TEMP: folder,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_OUTPUT: output,
      ...Object.fromEntries(env),
    },
    encoding: 'utf8',
  });
  const read = (file = '') => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  return {
    code: ran.status,
    stdout: ran.stdout,
    stderr: ran.stderr,
    summary: read(summary),
    output: read(output),
  };
}

test('suites that pass are summed up, and their reports stand where the output says', () => {
  const folder = openProject();
  const ran = runStep(folder, { suites: 'evals/good one.suite.yaml\n' });
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/^::notice .*good%3A passed::[^\n]*\n$/)]);
  expect(ran.stderr).toContain('good: passed');
  expect(ran.summary).toContain('good');
  expect(ran.output).toContain('passed=true');
  const reports = /^reports=(.*)$/m.exec(ran.output)?.[1] ?? '';
  expect(JSON.parse(readFileSync(join(reports, '1.sarif'), 'utf8'))).toMatchObject({ version: '2.1.0' });
  expect(existsSync(join(reports, '1.jsonl'))).toBe(true);
});

test('every suite that a pattern matches runs, and a failing one annotates and fails the job', () => {
  const ran = runStep(openProject(), { suites: 'evals/*.suite.yaml', arguments: '--max-cases\n1\n' });
  expect(ran.code).toBe(1);
  expect(ran.stdout).toMatch(/^::error file=evals\/bad\.suite\.yaml,line=\d+,title=greets did not pass::/m);
  expect(ran.summary).toMatch(/bad[\s\S]*good/);
  expect(ran.output).toContain('passed=false');
});

test.each([
  ['nothing', '', 'no suite is named'],
  ['a pattern that matches nothing', 'none/*.yaml', 'no suite matches none/*.yaml'],
  ['text that wants to be code', '$(touch hacked); `touch hacked`', 'no suite matches $('],
  ['a suite that is none', 'package.json', 'package.json could not be judged (exit code 2)'],
])('%s is an error of the job', (_, suites, message) => {
  const folder = openProject();
  const ran = runStep(folder, { suites });
  expect(ran.code).toBe(2);
  expect(ran.stdout).toContain(`::error title=Signalbox::${message}`);
  expect(existsSync(join(folder, 'hacked'))).toBe(false);
});

test('the summary of many suites stays below the limit of a step, and has the verdict of each', () => {
  const folder = openProject();
  const program = join(folder, 'node_modules/.bin/signalbox');
  rmSync(program);
  // Writes a summary as a suite with long names would.
  writeFileSync(
    program,
    `#!/bin/sh
for word; do case $word in
  markdown=*) { echo "### $3"; head -c 59000 /dev/zero | tr '\\0' x; echo; } > "\${word#markdown=}" ;;
esac; done
`,
    { mode: 0o755 },
  );
  for (let n = 100; n < 120; n += 1) writeFileSync(join(folder, `evals/${n}.suite.yaml`), '');
  const { summary } = runStep(folder, { suites: 'evals/1*.suite.yaml' });
  expect(summary.length).toBeLessThan(1_048_576);
  expect(summary.match(/^### evals\/1\d\d\.suite\.yaml$/gm)).toHaveLength(20);
});

test('a report to /dev/stderr is appended to a file there, and never replaces the device', () => {
  const folder = openProject();
  const file = join(folder, 'log');
  // Simulates replacement of the file by another program: the descriptor no longer has a name.
  const script = `exec 2> log; for n in 1 2; do ./node_modules/.bin/signalbox eval run 'evals/good one.suite.yaml' --quiet --no-store --reporter table=/dev/stderr; [ $n = 1 ] && cp log first && rm log; done; cat /proc/self/fd/2 > both`;
  spawnSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' });
  const [first, both] = ['first', 'both'].map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(first?.match(/^good: passed$/gm)).toHaveLength(1);
  expect(both?.match(/^good: passed$/gm)).toHaveLength(2);
  expect([existsSync(file), lstatSync('/dev/stderr').isFile()]).toEqual([false, false]);
});

test('no input becomes part of a script', () => {
  for (const { run = '' } of action.runs.steps) expect(run).not.toContain('${{');
});

test('an unwanted summary is not written', () => {
  const ran = runStep(openProject(), { suites: 'evals/bad.suite.yaml', summary: 'false' });
  expect([ran.code, ran.summary]).toEqual([1, '']);
});

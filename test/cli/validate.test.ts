import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { config, fixture, folderOf, run, runBothWays, runJson, suite } from './command-line.ts';

const tenMistakes = readFileSync(new URL('../fixtures/config/ten-mistakes.yaml', import.meta.url), 'utf8');

const suiteOf = (type: string, runtime = 'runtime: ./runtime.yaml\n') =>
  suite(`${runtime}cases: [{id: one, content: x}]\nevals: [{id: a, type: ${type}}]\n`);

const desk = folderOf({
  'runtime.yaml': config(`evals: {score: {command: ${fixture('eval-score')}}}\n`),
  'warns.yaml': config('tools: {bare: {description: nothing}}\n'),
  'mistakes.yaml': tenMistakes,
  'good.suite.yaml': suiteOf('score'),
  'mistyped.suite.yaml': suiteOf('scor'),
  'homeless.suite.yaml': suiteOf('scor', ''),
  'nowhere.suite.yaml': suiteOf('score', 'runtime: ./nowhere.yaml\n'),
  'astray.suite.yaml': suiteOf('score', 'runtime: ./mistakes.yaml\n'),
  'odd.suite.yaml': `${suiteOf('scor')}  frob: 1\n`,
});

const places = [
  '2:7 kind: must be RuntimeConfig',
  '3:24 metadata.owner: unknown key',
  '5:16 concurrency: must be at least 1 (got: 0)',
  '8:14 tools[search].exec.comand: unknown key',
  '11:39 tools[fetch].exec.timeout_ms: must be a whole number, not the string "5s"',
  '12:7 duplicate key `description` in one mapping',
  '14:30 evals[tone].env: must be a list, not the string "HOME"',
  '19:16 hooks[guard].phases[0]: must be one of: before_call, after_call (got: before_cal)',
  '20:16 hooks[guard].sandbox: the sandbox "box" is not declared under spec.sandboxes',
  '21:46 hooks[told].mode: session hooks only observe: they receive events, and their answers are not read (got: filter)',
];

test.concurrent('a file with ten mistakes is reported with all ten, each with its place [DS-CLI-05 DS-CLI-06 DS-CLI-02]', async ({
  expect,
}) => {
  const { people, programs } = await runBothWays('validate mistakes.yaml', { cwd: desk });
  expect(people).toMatchObject({ code: 2, stderr: '[CONFIG_INVALID] 1 file: 10 errors, 0 warnings\n' });
  const lines = people.stdout.split('\n').filter(Boolean);
  expect(lines.filter((line) => !line.startsWith('    hint: '))).toEqual(
    places.map((place) => `mistakes.yaml:${place}`),
  );
  expect(lines).toContain('    hint: did you mean `command`?');
  expect(programs).toEqual({
    code: 2,
    document: {
      valid: false,
      files: 1,
      errors: 10,
      warnings: 0,
      problems: places.map((place) => {
        const [, line, column, message] = /^(\d+):(\d+) (.*)$/.exec(place) ?? [];
        const at = { file: 'mistakes.yaml', line: Number(line), column: Number(column) };
        return expect.objectContaining({ severity: 'error', ...at, message });
      }),
    },
    stderr: '',
  });
});

const bare = 'tools[bare]: has no exec binding: it is listed, but a call of it fails';
const bareHint = 'Add `exec: {command: …}` to make it run.';
const warned = `warns.yaml:5:11 warning: ${bare}\n    hint: ${bareHint}\n`;
const scor = 'evals[0].type: no eval named scor is declared\n    hint: did you mean `score`?\n';

test.concurrent.for([
  ['a config without a flaw', 'runtime.yaml', '', '1 file: 0 errors, 0 warnings'],
  ['no file at all: the one of --config', '--config warns.yaml', warned, '1 file: 0 errors, 1 warning'],
  [
    'a config with a warning and a suite without a flaw',
    'warns.yaml good.suite.yaml',
    warned,
    '2 files: 0 errors, 1 warning',
  ],
  [
    'a suite with an eval that its runtime lacks',
    'mistyped.suite.yaml',
    `mistyped.suite.yaml:7:25 ${scor}`,
    '1 file: 1 error, 0 warnings',
  ],
  [
    'a suite that names no runtime: it is checked against that of --config',
    'homeless.suite.yaml',
    `homeless.suite.yaml:6:25 ${scor}`,
    '1 file: 1 error, 0 warnings',
  ],
  [
    'a suite with two mistakes of different kinds',
    'odd.suite.yaml',
    `odd.suite.yaml:7:25 ${scor}odd.suite.yaml:8:3 frob: unknown key\n    hint: known keys: runtime, dataset, cases, case, subject, evals, gates, repeat, retries, timeout_ms, max_cost\n`,
    '1 file: 2 errors, 0 warnings',
  ],
  [
    'a suite whose runtime is not there',
    'nowhere.suite.yaml',
    'nowhere.suite.yaml:5:12 runtime: nowhere.yaml does not exist\n    hint: Check the path; it is relative to the folder of this file.\n',
    '1 file: 1 error, 0 warnings',
  ],
  [
    'a config with a warning, strictly',
    '--strict warns.yaml runtime.yaml',
    warned.replace('warning: ', ''),
    '2 files: 1 error, 0 warnings',
  ],
  ['a config without a flaw, strictly', '--strict runtime.yaml', '', '1 file: 0 errors, 0 warnings'],
  [
    'a suite whose runtime is broken',
    'astray.suite.yaml',
    'astray.suite.yaml:5:12 warning: runtime: mistakes.yaml has 10 errors, so the types of the evals are not checked\n    hint: Run `signalbox validate mistakes.yaml`.\n',
    '1 file: 0 errors, 1 warning',
  ],
  [
    'a file that is not there, between others',
    'warns.yaml nowhere.yaml mistyped.suite.yaml',
    `${warned}nowhere.yaml:1:1 nowhere.yaml does not exist\n    hint: Check the path; relative paths start from the current folder.\nmistyped.suite.yaml:7:25 ${scor}`,
    '3 files: 2 errors, 1 warning',
  ],
] as const)(
  'validate: %s [DS-CLI-01 DS-CLI-05 DS-CLI-06 DS-CLI-12]',
  async ([, line, stdout, counts], { expect }) => {
    const isGood = counts.includes(': 0 errors');
    const stderr = isGood ? `${counts}\n` : `[CONFIG_INVALID] ${counts}\n`;
    expect(await run(`validate ${line}`, { cwd: desk })).toEqual({ code: isGood ? 0 : 2, stdout, stderr });
  },
);

test.concurrent('--json has the problems of all files in one document [DS-CLI-02]', async ({ expect }) => {
  const hint = 'Check the path; relative paths start from the current folder.';
  const message = 'nowhere.yaml does not exist';
  const problems = [
    { file: 'warns.yaml', line: 5, column: 11, severity: 'warning', message: bare, hint: bareHint },
    { file: 'nowhere.yaml', line: 1, column: 1, severity: 'error', message, hint },
  ];
  expect(await runJson('validate warns.yaml nowhere.yaml', { cwd: desk })).toEqual({
    code: 2,
    document: { valid: false, files: 2, errors: 1, warnings: 1, problems },
    stderr: '',
  });
});

test.concurrent('a missing program is an error, except with --no-programs and in files of PromptKit', async ({
  expect,
}) => {
  const text = config('tools: {x: {exec: {command: ./nowhere.sh}}}\n');
  const folder = folderOf({
    'runtime.yaml': text,
    'promptkit.yaml': text.replace('signalbox/v1', 'promptkit.altairalabs.ai/v1alpha1'),
  });
  const [missing, ignored, tolerated] = await Promise.all(
    [['runtime.yaml'], ['runtime.yaml', '--no-programs'], ['promptkit.yaml']].map(
      async (args) => await runJson(['validate', ...args], { cwd: folder }),
    ),
  );
  const message = expect.stringContaining(`${join(folder, 'nowhere.sh')} does not exist`);
  expect(missing).toMatchObject({ code: 2, document: { problems: [{ severity: 'error', message }] } });
  expect(ignored).toMatchObject({ code: 0, document: { problems: [] } });
  expect(tolerated).toMatchObject({ code: 0, document: { problems: [{ severity: 'warning', message }] } });
});

describe('without files, or with a folder', () => {
  const broken = config('concurrency: 0\n');
  const folder = folderOf({
    'runtime.yaml': config(''),
    'sub/x.suite.yaml': suiteOf('nope', 'runtime: ../runtime.yaml\n'),
    'sub/deep/p.yml': 'apiVersion: signalbox/v1\nkind: Pipeline\nspec: {}\n',
    'sub/broken.json': JSON.stringify({
      apiVersion: 'signalbox/v1',
      kind: 'RuntimeConfig',
      spec: { concurrency: 0 },
    }),
    'promptkit.yaml': broken.replace('signalbox/v1', 'promptkit.altairalabs.ai/v1alpha1'),
    'arena.yaml': 'apiVersion: promptkit.altairalabs.ai/v1alpha1\nkind: Arena\nspec: 1\n',
    'other.yaml': 'kind: RuntimeConfig\nspec: {concurrency: 0}\n',
    'overlay.yaml': 'spec: {concurrency: 0}\n',
    'node_modules/p/runtime.yaml': broken,
    '.hidden/runtime.yaml': broken,
    'ignored/runtime.yaml': broken,
    '.gitignore': 'ignored\n',
    'none/readme.md': '',
  });
  execFileSync('git', ['init', '-q'], { cwd: folder });

  test('every config, suite and pipeline is checked, and counted', async () => {
    const { code, stdout, stderr } = await run('validate', { cwd: folder });
    expect({ code, stderr: stderr.split(':', 1) }).toEqual({ code: 2, stderr: ['[CONFIG_INVALID] 5 files'] });
    const errors = stdout.match(/^[\w/.]+(?=:\d+:\d+ (?!warning:|note:))/gm);
    expect([...new Set(errors)].toSorted()).toEqual([
      'promptkit.yaml',
      'sub/broken.json',
      'sub/deep/p.yml',
      'sub/x.suite.yaml',
    ]);
    expect(await runJson('validate sub', { cwd: folder })).toMatchObject({ document: { files: 3 } });
  });

  test('a folder that git ignores is checked if it is named', async () => {
    expect(await runJson('validate ignored', { cwd: folder })).toMatchObject({ document: { files: 1 } });
    expect(await run('validate none', { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the folder none has no config, suite or pipeline'),
    });
  });

  test('outside a repository nothing is ignored', async () => {
    const bare = folderOf({ 'a/runtime.yaml': config(''), '.gitignore': 'a\n' });
    expect(await runJson('validate', { cwd: bare })).toMatchObject({ code: 0, document: { files: 1 } });
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { configText, native, told } from './told.ts';

async function open(keys: object) {
  const folder = mkdtempSync(join(tmpdir(), 'script-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'runtime.yaml');
  const entry = JSON.stringify({ ...keys, env: ['PATH=/usr/bin:/bin:/usr/local/bin'] });
  writeFileSync(
    file,
    `apiVersion: signalbox/v1\nkind: RuntimeConfig\nmetadata: {name: scripts}\nspec:\n  evals:\n    it: ${entry}\n`,
  );
  const runtime = await openRuntime(file);
  onTestFinished(() => runtime.close());
  return (content: string, params = {}) => runtime.evals.call('it', { content, params });
}

const languages = [
  {
    language: 'python',
    expression: "len(content) < params['most']",
    body: 'words = content.split()\nreturn len(words) / 4',
    detailed: "{'score': 0.5, 'detail': content.upper()}",
    noisy: '(print("{\\"score\\": 1}"), 0.25)[1]',
    missing: 'nothing_there',
    missingSays: 'NameError',
    nothing: 'None',
    broken: 'len(',
    ends: '__import__("os")._exit(0)',
    slow: '__import__("time").sleep(60)',
    infinite: 'float("nan")',
  },
  {
    language: 'javascript',
    expression: 'content.length < params.most',
    body: 'const words = content.split(" ");\nreturn words.length / 4;',
    detailed: '({score: 0.5, detail: content.toUpperCase()})',
    noisy: '(console.log("{\\"score\\": 1}"), 0.25)',
    missing: 'nothingThere',
    missingSays: 'ReferenceError',
    nothing: 'undefined',
    broken: 'len(',
    ends: 'process.exit(0)',
    slow: 'new Promise(() => setInterval(() => {}, 1000))',
    infinite: 'NaN',
  },
];

describe.each(languages)('$language', ({ language, ...scripts }) => {
  const scriptOf = (code: string) => ({ script: { [language]: code } });

  test('an expression scores [DS-CHECKS-05]', async () => {
    const call = await open(scriptOf(scripts.expression));
    expect(await call('short', { most: 10 })).toMatchObject({ status: 'scored', score: 1, passed: true });
    expect(await call('much longer', { most: 3 })).toMatchObject({ status: 'scored', score: 0 });
  });

  test.each([
    ['a body with return', scripts.body, { score: 0.5 }],
    ['a reply with a detail', scripts.detailed, { score: 0.5, detail: 'TWO ÉS' }],
    ['what it prints is no reply', scripts.noisy, { score: 0.25 }],
  ])('%s', async (_title, code, expected) => {
    const call = await open(scriptOf(code));
    expect(await call('two és')).toMatchObject({ status: 'scored', ...expected });
  });

  test.each([
    ['a name that is not there', scripts.missing, scripts.missingSays],
    ['no value', scripts.nothing, 'not a number'],
    ['no code of the language', scripts.broken, 'SyntaxError'],
    ['not a number', scripts.infinite, ''],
    ['an end without a reply', scripts.ends, ''],
  ])('%s is unscored, and reported with the line of the file [DS-CHECKS-06]', async (_title, code, says) => {
    const call = await open(scriptOf(code));
    const outcome = await call('x');
    expect(outcome).toMatchObject({ status: 'unscored', passed: false });
    const reason = outcome.status === 'unscored' ? outcome.reason : '';
    expect(reason).toContain(says);
    expect(says === '' || reason.includes('runtime.yaml:6')).toBe(true);
  });

  test('scores several cases in one request, each separately', () => {
    const script = JSON.stringify({ [language]: scripts.expression });
    const { config } = told(configText(native, `\nevals:\n  it: {script: ${script}, batch: 3}`));
    const { command = '', args = [] } = config?.evals[0]?.exec ?? {};
    const batch = [
      { content: 'a', params: { most: 2 } },
      { content: null, params: null },
      { content: 'abc', params: { most: 2 } },
    ];
    const input = JSON.stringify({ type: 'it', batch });
    const { results } = JSON.parse(execFileSync(command, args, { input, encoding: 'utf8' }));
    expect(results).toEqual([
      { score: 1 },
      { error: expect.stringContaining('runtime.yaml:5') },
      { score: 0 },
    ]);
  });

  test('is stopped at its time limit', async () => {
    const call = await open({ ...scriptOf(scripts.slow), timeout_ms: 300 });
    expect(await call('x')).toMatchObject({ status: 'unscored', passed: false });
  });

  test('a persistent process answers each call, and a mistake affects only its call', async () => {
    const call = await open({ ...scriptOf(scripts.expression), runtime: 'server' });
    const all = await Promise.all([
      call('a', { most: 2 }),
      call('b'),
      call('c'.repeat(1_000_000), { most: 2 }),
    ]);
    expect(all[0]).toMatchObject({ score: 1 });
    expect(all[2]).toMatchObject({ score: 0 });
    expect(await call('\u2028 👍', { most: 9 })).toMatchObject({ score: 1 });
  });
});

test('a variable’s value does not become code', () => {
  const text = configText(native, `\nevals:\n  it: {script: {python: "'\${env:HOME}' and 1"}}`);
  expect(told(text).config?.evals[0]?.exec.args).toContain("'${env:HOME}' and 1");
});

test.each([
  {
    title: 'both a command and a script',
    entry: '{command: sh, script: {python: "1"}}',
    said: 'error 5:19 evals[it].command: is not allowed here',
  },
  {
    title: 'neither',
    entry: '{timeout_ms: 100}',
    said: 'error 5:5 evals[it].command: eval command is required | Add `command: ./PROGRAM`.',
  },
  {
    title: 'two languages',
    entry: '{script: {python: "1", javascript: "1"}}',
    said: 'error 5:18 evals[it].script: must have at most 1 keys',
  },
  {
    title: 'another language',
    entry: '{script: {ruby: "1"}}',
    said: 'error 5:19 evals[it].script.ruby: unknown key | known keys: python, javascript',
  },
  {
    title: 'nothing',
    entry: '{script: {python: " "}}',
    said: 'error 5:27 evals[it].script.python: must match \\S (got:  )',
  },
  {
    title: 'a runtime that forks',
    entry: '{script: {python: "1"}, runtime: fork}',
    said: 'error 5:42 evals[it].runtime: must be one of: exec, server (got: fork)',
  },
])('$title is a problem of the file', ({ entry, said }) => {
  const { config, problems } = told(configText(native, `\nevals:\n  it: ${entry}`));
  expect({ config, problems }).toEqual({ config: undefined, problems: [said] });
});

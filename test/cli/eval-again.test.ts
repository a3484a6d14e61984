import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { config, folderOf, run, runJson, suite } from './command-line.ts';

/** An eval that scores a case by its word in a file. Without a word, it has no score. */
const program = `#!/usr/bin/env node
const { content } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const score = JSON.parse(process.env.SCORES)[content];
if (score === undefined) process.exit(3);
process.stdout.write(JSON.stringify({ score }));
`;

/** A folder with a run of these scores, and a function that evaluates its cases again from the parent folder. */
async function judgedFolder() {
  const above = folderOf({
    'proj/runtime.yaml': config('evals: {judged: {command: ./judged.cjs, env: [SCORES]}}\n'),
    'proj/s.suite.yaml': suite(
      'runtime: ./runtime.yaml\ncases: [{id: a}, {id: b}, {id: c}]\ncase: {id: "${case.id}", content: "${case.id}"}\n' +
        'evals: [{id: e, type: judged, threshold: {min_score: 1}}]\ngates: [{eval: e, metric: pass_rate, min: 0.6}]\n',
    ),
  });
  const cwd = join(above, 'proj');
  writeFileSync(join(cwd, 'judged.cjs'), program, { mode: 0o755 });
  const env = (scores: object) => ({ SCORES: JSON.stringify(scores) });
  await runJson('eval run s.suite.yaml', { cwd, env: env({ a: 1, b: 0 }) });
  const list = async () => (await runJson('eval list', { cwd })).document;
  return {
    ...{ above, cwd, list },
    again: async (args: readonly string[], scores: object = {}, at = above) =>
      await runJson(['eval', 'run', '--again', ...args], { cwd: at, env: env(scores) }),
  };
}

test('cases are judged again from any folder, by any shortened run id, and every command shows the new state', async () => {
  const { cwd, list, again } = await judgedFolder();
  expect(await list()).toMatchObject({ runs: [{ status: 'error', cases: 3 }] });
  const before = await runJson('eval show last', { cwd });
  const first = await again(['unscored', 'last'], { a: 0, b: 1, c: 0 });
  expect(first).toMatchObject({ code: 1, document: { status: 'failed', overall: { passed: 1 } } });
  const { run_id: id } = before.document as { run_id: string };
  const second = await again(['failed', id.slice(0, 6)], { a: 0, b: 1, c: 1 });
  expect(second).toMatchObject({
    code: 0,
    document: { run_id: id, status: 'passed', overall: { passed: 3 }, gates: [{ value: 1, passed: true }] },
  });
  expect(await list()).toMatchObject({ runs: [{ id, status: 'passed', cases: 3, pass_rate: 1 }] });
  const shown = await runJson(`eval show ${id}`, { cwd });
  expect(shown.document).toMatchObject({
    status: 'passed',
    reopenings: [
      { number: 1, cases: 'unscored', status: 'error', report: before.document },
      { number: 2, cases: 'failed', status: 'failed', report: { overall: { passed: 1 } } },
    ],
  });
  const ofCase = await runJson(`eval show ${id} --case c`, { cwd });
  expect(ofCase.document).toMatchObject({
    cases: [{ passed: true, score: 1 }],
    replaced: [
      { reopening: 1, case: { passed: false, score: null } },
      { reopening: 2, case: { passed: false, score: 0 } },
    ],
  });
  expect((await run(`eval show ${id}`, { cwd })).stdout).toMatch(
    /\njudged again at \S+: unscored cases; before: error, pass rate 0\.3333\njudged again at \S+: failed cases; before: failed, pass rate 0\.3333\n$/,
  );
  expect((await run(`eval show ${id} --case b`, { cwd })).stdout).toContain('judged before\ncase   b');
});

test.each([
  { title: 'several runs', args: ['all', 'last', 'last~1'], code: 'USAGE', message: '--again takes one run' },
  { title: 'a new run', args: ['all', 'last', '--no-store'], code: 'USAGE', message: '--no-store' },
  { title: 'a run to resume', args: ['all', 'last', '--resume'], code: 'USAGE', message: '--resume' },
  { title: 'a run that is not there', args: ['all', 'last~7'], code: 'RUN_UNKNOWN', message: 'last~7' },
  { title: 'a file', args: ['all', 's.suite.yaml'], code: 'USAGE', message: 's.suite.yaml' },
  { title: 'another choice', args: ['some', 'last'], code: 'USAGE', message: 'failed, unscored, all' },
  {
    title: 'other options',
    args: ['all', 'last', '--repeat', '2'],
    code: 'USAGE',
    message: '--repeat differs',
  },
])('--again refuses $title', async ({ args, code, message }) => {
  const { again, list } = await judgedFolder();
  expect(await again(args)).toMatchObject({
    code: 2,
    document: { error: { code, message: expect.stringContaining(message) } },
  });
  expect(await list()).toMatchObject({ runs: [{ status: 'error' }] });
});

test('--again refuses a run whose eval program has changed since', async () => {
  const { again, cwd } = await judgedFolder();
  const file = join(cwd, 'judged.cjs');
  writeFileSync(file, `${readFileSync(file, 'utf8')}// changed\n`);
  expect(await again(['all', 'last'])).toMatchObject({
    document: {
      error: { code: 'USAGE', message: expect.stringMatching(/the program \S*judged\.cjs has changed/) },
    },
  });
});

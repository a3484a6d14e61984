import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRuntime } from '../../src/runtime/runtime.ts';
import { config, fixture, folderOf, run, runJson, suite } from './command-line.ts';

async function ratedFolder(): Promise<string> {
  const cwd = folderOf({
    'runtime.yaml': config(`evals: {score: {command: ${fixture('eval-score')}}}\n`),
    's.suite.yaml': suite(
      'cases: [{id: one, content: x}, {id: two, content: y}]\nevals: [{id: exact, type: score, params: {score: 1}}]\n',
    ),
  });
  const runtime = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
  try {
    await runtime.evals.run(join(cwd, 's.suite.yaml'));
  } finally {
    await runtime.close();
  }
  return cwd;
}

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('a rating is stored with the run, replaced only by its author, shown everywhere, and can be withdrawn', async () => {
  const cwd = await ratedFolder();
  const rate = (...args: string[]) => runJson(['eval', 'rate', 'last', '--case', 'one', ...args], { cwd });
  const first = await rate('--score', '0.25', '--by', 'ada');
  const evil = `no</script>\u001b[2J\n=1+1`;
  await rate('--score', '1', '--label', 'good', '--comment', evil, '--by', 'ada');
  await rate('--eval', 'exact', '--label', 'fine', '--by', 'joe');
  const ada = { case: 'one', eval: null, by: 'ada', at: isoTime, score: 1, label: 'good', comment: evil };
  const joe = { ...ada, eval: 'exact', by: 'joe', score: null, label: 'fine', comment: null };
  expect(first.document).toMatchObject({ rating: { ...ada, score: 0.25, label: null, comment: null } });
  const list = await runJson('eval rate last --list', { cwd });
  expect(list).toMatchObject({ code: 0, document: { ratings: [ada, joe] } });
  const shown = await run('eval show last --case one', { cwd });
  expect(shown.stdout).toMatch(
    /\n\nratings\n {2}case one: 1 good by ada at \S+\n {4}no<\/script>\\u001b\[2J\n {4}=1\+1\n {2}case one, exact: fine by joe at \S+\n$/,
  );
  const other = await runJson('eval show last --case two', { cwd });
  expect(other.document).not.toHaveProperty('ratings');
  await run('eval html last --output page.html', { cwd });
  const page = readFileSync(join(cwd, 'page.html'), 'utf8');
  expect(page.match(/^rating .*$/gm)?.map((line) => JSON.parse(line.slice(7)))).toEqual(
    expect.arrayContaining([ada, joe]),
  );
  const removed = await rate('--remove', '--by', 'ada');
  expect(removed).toMatchObject({ code: 0, document: { removed: { case: 'one', eval: null, by: 'ada' } } });
  const left = await runJson('eval rate last --list --case one', { cwd });
  expect(left.document).toMatchObject({ ratings: [joe] });
});

const wrong = [
  { title: 'no case', args: ['last', '--score', '1'], code: 'USAGE', told: '--case' },
  { title: 'a rating that says nothing', args: ['last', '--case', 'one'], code: 'USAGE', told: 'score' },
  {
    title: 'a score beyond 1',
    args: ['last', '--case', 'one', '--score', '5'],
    code: 'USAGE',
    told: 'from 0 to 1, not 5',
  },
  {
    title: 'a score that is no number',
    args: ['last', '--case', 'one', '--score', 'high'],
    code: 'USAGE',
    told: '--score',
  },
  {
    title: 'an empty label',
    args: ['last', '--case', 'one', '--label', ' '],
    code: 'USAGE',
    told: 'label',
  },
  {
    title: 'a comment that is too long',
    args: ['last', '--case', 'one', '--comment', 'x'.repeat(10_001)],
    code: 'USAGE',
    told: '10001 characters',
  },
  {
    title: 'a case that is not there',
    args: ['last', '--case', 'three', '--score', '1'],
    code: 'NAME_UNKNOWN',
    told: 'three',
  },
  {
    title: 'an eval that is not there, with the nearest',
    args: ['last', '--case', 'one', '--eval', 'exakt', '--score', '1'],
    code: 'NAME_UNKNOWN',
    told: 'did you mean `exact`?',
  },
  {
    title: 'a run that is not there',
    args: ['last~7', '--case', 'one', '--score', '1'],
    code: 'RUN_UNKNOWN',
    told: 'last~7',
  },
  {
    title: 'a file',
    args: ['./run.jsonl', '--case', 'one', '--score', '1'],
    code: 'USAGE',
    told: 'run.jsonl',
  },
  {
    title: 'a rating to take back that nobody gave',
    args: ['last', '--case', 'one', '--remove', '--by', 'nobody'],
    code: 'NAME_UNKNOWN',
    told: 'by nobody',
  },
  {
    title: 'to give and to take at once',
    args: ['last', '--case', 'one', '--score', '1', '--remove'],
    code: 'USAGE',
    told: 'exclude each other',
  },
];

let shared: Promise<string> | undefined;

test.each(wrong)('refuses $title', async ({ args, code, told }) => {
  shared ??= ratedFolder();
  const { code: exit, document } = await runJson(['eval', 'rate', ...args], { cwd: await shared });
  expect([exit, document]).toMatchObject([2, { error: { code } }]);
  expect(JSON.stringify(document)).toContain(told);
});

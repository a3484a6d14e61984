import { expect, test } from 'vitest';
import { config, folderOf, run, runJson, suite } from './command-line.ts';

async function ratedFolder(ratings: readonly (readonly string[])[]) {
  const cwd = folderOf({
    'runtime.yaml': config('evals: {}'),
    's.suite.yaml': suite(
      'cases: [{id: one, content: good}, {id: two, content: bad}, {id: "x\\u001b[2J", content: good}]\nevals: [{id: exact, type: equals, params: {expected: good}}]\n',
    ),
  });
  await run('eval run s.suite.yaml --quiet', { cwd });
  for (const args of ratings) await run(['eval', 'rate', 'last', '--eval', 'exact', ...args], { cwd });
  return cwd;
}

test('eval agreement reports how far an eval and a person, or two people, agree, and where they differ [DS-AGREE-06]', async () => {
  const cwd = await ratedFolder([
    ['--case', 'one', '--score', '1', '--by', 'mara'],
    ['--case', 'two', '--label', 'pass', '--comment', 'it is\nfine', '--by', 'mara'],
    ['--case', 'x\u001b[2J', '--score', '0', '--by', 'mara'],
    ['--case', 'one', '--label', 'odd', '--by', 'ada'],
    ['--case', 'two', '--label', 'fail', '--by', 'ada'],
  ]);
  const { code, stdout } = await run('eval agreement last', { cwd });
  expect({ code, lines: stdout.split('\n') }).toEqual({
    code: 0,
    lines: [
      'exact and ada: no kappa, because both gave only one verdict; the same verdict in 100.00% of 1 case',
      '  passed by both 0, by exact alone 0, by ada alone 0, failed by both 1 (too few to rely on)',
      '  not compared: 1 rating without a verdict',
      '',
      'exact and mara: kappa -0.50 (-1.00–0.10), the same verdict in 33.33% of 3 cases',
      '  passed by both 1, by exact alone 1, by mara alone 1, failed by both 0 (too few to rely on)',
      '  disagree',
      '    two: failed with 0, but mara says passed: it is fine',
      '    x\\u001b[2J: passed with 1, but mara says failed',
      '',
      'ada and mara, of exact: kappa 0.00, the same verdict in 0.00% of 1 case',
      '  passed by both 0, by ada alone 0, by mara alone 1, failed by both 0 (too few to rely on)',
      '  disagree',
      '    two',
      '',
    ],
  });
  const { document } = await runJson('eval agreement last --by mara --eval exact', { cwd });
  expect(document).toMatchObject({
    ...{ suite: 'demo', min_score: 0.5, cases: null },
    evals: { exact: { people: [{ by: 'mara', agreement: { n: 3 } }], between: [] } },
  });
});

test('a run without ratings is reported and is no failure [DS-AGREE-05]', async () => {
  const cwd = await ratedFolder([]);
  const { code, stdout, stderr } = await run('eval agreement last', { cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('no ratings');
  const shown = await runJson('eval agreement last', { cwd });
  expect(shown).toMatchObject({ code: 0, document: { evals: {}, cases: null } });
});

test.each([
  [['last', '--eval', 'exakt'], 'NAME_UNKNOWN'],
  [['last', '--by', 'nobody'], 'NAME_UNKNOWN'],
  [['last', '--min-score', 'high'], 'USAGE'],
  [['last', '--min-score', '2'], 'USAGE'],
  [['nowhere'], 'RUN_UNKNOWN'],
])('%j exits 2', async (args, code) => {
  const cwd = await ratedFolder([['--case', 'one', '--score', '1', '--by', 'mara']]);
  expect(await runJson(['eval', 'agreement', ...args], { cwd })).toMatchObject({
    code: 2,
    document: { error: { code } },
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { config, folderOf, run, suite } from '../cli/command-line.ts';

const rows = `answer,human
yes,pass
yes,TRUE
yes,no
no,
no,fail
no,1
`;

function projectOf(csv = rows, spec = ''): string {
  return folderOf({
    'runtime.yaml': config('state_store: {type: memory}\n'),
    'rows.csv': csv,
    'demo.suite.yaml': suite(
      `runtime: ./runtime.yaml\ndataset: {path: rows.csv}\ncase: {content: "\${case.answer}"}\nevals: [{id: polite, type: contains, params: {patterns: ["yes"]}, role: metric, label: "\${case.human}"}]\n${spec}`,
    ),
  });
}

async function reportOf(cwd: string) {
  await using runtime = await openRuntime(join(cwd, 'runtime.yaml'));
  return await runtime.evals.run(join(cwd, 'demo.suite.yaml'));
}

test('verdicts are compared with the labels of the dataset, if there are any [DS-AGREE-02]', async () => {
  const { evals, cases } = await reportOf(projectOf());
  expect({ cases, ...evals['polite']?.agreement }).toMatchObject({
    ...{ cases: 6, n: 5, both_passed: 2, only_eval: 1, only_person: 1, both_failed: 1, observed: 0.6 },
  });
});

test('the table has a line for agreement', async () => {
  const { stdout } = await run(['eval', 'run', 'demo.suite.yaml'], { cwd: projectOf() });
  const line =
    'polite and people: kappa 0.17 (-0.71–1.00), the same verdict in 60.00% of 5 cases; 1 passed by it alone, 1 by people alone';
  expect(stdout).toContain(line);
});

test('a label that is no verdict makes its row unusable [DS-AGREE-02]', async () => {
  const { problems } = await reportOf(projectOf('answer,human\nyes,pass\nyes,maybe\n'));
  expect(problems).toMatchObject([{ line: 3, message: expect.stringContaining('evals[polite].label') }]);
});

test('a gate on kappa fails if there is nothing to measure [DS-AGREE-03]', async () => {
  const gate = 'gates: [{eval: polite, metric: kappa, min: 0.1}]\n';
  expect((await reportOf(projectOf(rows, gate))).gates).toMatchObject([{ passed: true }]);
  expect((await reportOf(projectOf('answer,human\nyes,pass\n', gate))).gates).toMatchObject([
    { passed: false, value: null },
  ]);
});

test('a name that the row does not have is reported with its line', async () => {
  const cwd = projectOf();
  const file = join(cwd, 'demo.suite.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('${case.human}', '${cases.human}'));
  const { code, stderr, stdout } = await run(['validate', 'demo.suite.yaml'], { cwd });
  expect({ code, told: /demo\.suite\.yaml:8:\d+.*label/.test(stdout + stderr) }).toEqual({
    code: 2,
    told: true,
  });
});

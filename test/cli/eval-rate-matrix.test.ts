import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRuntime } from '../../src/runtime/runtime.ts';
import { config, folderOf, run, runJson } from './command-line.ts';

const provider = (id: string, text: string) =>
  `\n  - {id: ${id}, type: mock, model: m, additional_config: {responses: [{text: "${text}", repeat: true}]}}`;

const suite = `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: models}
spec:
  runtime: ./runtime.yaml
  cases: [{id: one, q: a}, {id: two, q: b}]
  case: {id: "\${case.id}"}
  subject: {chat: {provider: [small, large], messages: "\${case.q}"}}
  evals: [{id: says_yes, type: contains, params: {patterns: ["yes"]}}]
`;

/** A folder with one stored run of a matrix. `small` fails and `large` passes. */
async function ratedFolder(): Promise<string> {
  const runtimeYaml = config(`providers:${provider('small', 'no')}${provider('large', 'yes')}\n`);
  const cwd = folderOf({ 'runtime.yaml': runtimeYaml, 's.suite.yaml': suite });
  const runtime = await openRuntime(join(cwd, 'runtime.yaml'), { log: false });
  await runtime.evals.run(join(cwd, 's.suite.yaml')).finally(() => runtime.close());
  return cwd;
}

const at = expect.any(String);

test('a rating belongs to one variant of the case, wherever it is shown [DS-MATRIX-10]', async () => {
  const cwd = await ratedFolder();
  const rate = (...args: string[]) => runJson(['eval', 'rate', 'last', ...args], { cwd });
  const one = ['--case', 'one', '--by', 'ada'];
  const first = await rate(...one, '--variant', 'small', '--score', '0.25');
  await rate(...one, '--variant', 'large', '--score', '1', '--eval', 'says_yes');
  await rate(...one, '--variant', 'small', '--score', '0');
  const small = { case: 'one', variant: 'small', eval: null, by: 'ada', at, score: 0, label: null };
  const ofSmall = { ...small, comment: null };
  const ofLarge = { ...ofSmall, variant: 'large', eval: 'says_yes', score: 1 };
  expect(first.document).toMatchObject({ rating: { ...ofSmall, score: 0.25 } });
  expect((await rate('--list')).document).toMatchObject({ ratings: [ofLarge, ofSmall] });
  const listed = await rate('--list', '--variant', 'small');
  expect(listed.document).toHaveProperty('ratings', [ofSmall]);
  const shown = await run('eval show last --case one', { cwd });
  expect(shown.stdout).toMatch(/ratings\n(.*\n)* {2}case one \(small\): 0 by ada at \S+\n/);
  expect(shown.stdout).toMatch(/\n {2}case one \(large\), says_yes: 1 by ada at \S+\n/);
  await run('eval html last --output page.html', { cwd });
  const lines = readFileSync(join(cwd, 'page.html'), 'utf8').match(/^rating .*$/gm) ?? [];
  const inPage = lines.map((line) => JSON.parse(line.slice(7)));
  expect(inPage).toEqual(expect.arrayContaining([ofSmall, ofLarge]));
  const removed = await rate(...one, '--variant', 'small', '--remove');
  expect(removed.document).toMatchObject({
    removed: { case: 'one', variant: 'small', eval: null, by: 'ada' },
  });
  expect((await rate('--list')).document).toHaveProperty('ratings', [ofLarge]);
});

let shared: Promise<string> | undefined;
const wrong = [
  { title: 'none', args: ['--case', 'one', '--score', '1'], code: 'USAGE', told: 'small, large' },
  { title: 'none to take back', args: ['--case', 'one', '--remove'], code: 'USAGE', told: 'small, large' },
  {
    title: 'another, with the nearest',
    args: ['--case', 'one', '--variant', 'smal', '--score', '1'],
    code: 'NAME_UNKNOWN',
    told: 'did you mean `small`?',
  },
  {
    title: 'another to list',
    args: ['--list', '--variant', 'x'],
    code: 'NAME_UNKNOWN',
    told: 'small, large',
  },
  {
    title: 'one without that case',
    args: ['--case', 'three', '--variant', 'small', '--score', '1'],
    code: 'NAME_UNKNOWN',
    told: 'three',
  },
  {
    title: 'one that nobody has rated',
    args: ['--case', 'one', '--variant', 'large', '--remove'],
    code: 'NAME_UNKNOWN',
    told: '(large)',
  },
];

test.each(wrong)('a matrix refuses $title as variant [DS-MATRIX-10]', async ({ args, code, told }) => {
  shared ??= ratedFolder();
  const { code: exit, document } = await runJson(['eval', 'rate', 'last', ...args], { cwd: await shared });
  expect([exit, document]).toMatchObject([2, { error: { code } }]);
  expect(JSON.stringify(document)).toContain(told);
});

test('a run without variants refuses a variant [DS-MATRIX-10]', async () => {
  const cwd = await ratedFolder();
  writeFileSync(join(cwd, 'one.suite.yaml'), suite.replace('[small, large]', 'small'));
  await run('eval run one.suite.yaml --quiet', { cwd });
  const args = ['eval', 'rate', 'last', '--case', 'one', '--variant', 'small', '--score', '1'];
  expect(await runJson(args, { cwd })).toMatchObject({ code: 2, document: { error: { code: 'USAGE' } } });
  expect(await runJson(args.toSpliced(5, 2), { cwd })).toMatchObject({ code: 0 });
});

test('the agreement of a matrix is reported for each variant and for all [DS-AGREE-07]', async () => {
  const cwd = await ratedFolder();
  for (const variant of ['small', 'large']) {
    const args = ['--case', 'one', '--variant', variant, '--label', 'pass', '--by', 'mara'];
    await run(['eval', 'rate', 'last', ...args], { cwd });
  }
  const { code, stdout } = await run('eval agreement last', { cwd });
  expect([code, stdout.split('\n').filter((line) => line.includes(' and mara: '))]).toEqual([
    0,
    [
      'the run (small) and mara: kappa 0.00, the same verdict in 0.00% of 1 case',
      'the run (large) and mara: no kappa, because both gave only one verdict; the same verdict in 100.00% of 1 case',
      'the run (all variants) and mara: kappa 0.00, the same verdict in 50.00% of 2 cases',
    ],
  ]);
  const only = await run('eval agreement last --variant small', { cwd });
  expect(only.stdout).toMatch(/^the run and mara: kappa 0\.00[\s\S]* {4}one: failed with 0/);
  const wrongName = await runJson('eval agreement last --variant smal', { cwd });
  expect(wrongName).toMatchObject({ code: 2, document: { error: { code: 'NAME_UNKNOWN' } } });
});

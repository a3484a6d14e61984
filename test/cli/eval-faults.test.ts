import { existsSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { config, folderOf, run, suite } from './command-line.ts';

/** The eval's behaviour, by row. */
const replies = {
  good: 'echo \'{"score": 1}\'',
  low: 'echo \'{"score": 0}\'',
  abstain: 'echo \'{"abstain": "no claim to judge"}\'',
  error: 'echo \'{"error": "no judge today"}\'',
  crash: 'exit 1',
  junk: 'echo no JSON',
  range: 'echo \'{"score": 85}\'',
};
type Word = keyof typeof replies;

const isFault = (word: Word) => ['error', 'crash', 'junk', 'range'].includes(word);

const judge = `#!/bin/sh
input=$(cat)
case "$input" in
${Object.entries(replies)
  .map(([word, line]) => `*say-${word}*) ${line};;`)
  .join('\n')}
esac
`;

const gates: readonly {
  title: string;
  yaml: string;
  isMet: (words: readonly Word[]) => boolean;
  tolerates?: number;
}[] = [
  { title: 'no gate', yaml: '', isMet: (words) => words.every((word) => word === 'good') },
  {
    title: 'a mean',
    yaml: 'gates: [{eval: judged, metric: mean, min: 0.9}]',
    isMet: (words) => words.includes('good') && !words.includes('low'),
  },
  {
    title: 'a mean, and a share of faults',
    yaml: 'gates: [{eval: judged, metric: mean, min: 0.9}, {metric: faults, max: 0.25}]',
    isMet: (words) => words.includes('good') && !words.includes('low'),
    tolerates: 0.25,
  },
  {
    title: 'faults of another eval alone',
    yaml: 'gates: [{eval: other, metric: faults, max: 1}]',
    isMet: () => true,
  },
];

const mixes: readonly (readonly Word[])[] = [
  ['good', 'good', 'good', 'good'],
  ['good', 'good', 'good', 'low'],
  ['good', 'good', 'good', 'abstain'],
  ['abstain', 'abstain'],
  ...(['error', 'crash', 'junk', 'range'] as const).flatMap((word): Word[][] => [
    ['good', 'good', 'good', word],
    ['good', word, word, word],
    ['low', 'abstain', word, 'good'],
  ]),
];

const cases = mixes.flatMap((words) =>
  gates.map((gate) => ({ ...gate, words, title: `${words.join(' ')}: ${gate.title}` })),
);

test.each(cases)('$title', async ({ words, yaml, isMet, tolerates = 0 }) => {
  const cwd = folderOf({
    'runtime.yaml': config('state_store: {type: memory}\nevals: {judge: {command: ./judge.sh}}\n'),
    'judge.sh': judge,
    'rows.jsonl': words.map((word, index) => `{"id": "r${index}", "text": "say-${word}"}\n`).join(''),
    'demo.suite.yaml': suite(`
runtime: ./runtime.yaml
dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: "\${case.text}"}
evals:
  - {id: judged, type: judge}
  - {id: other, type: contains, params: {patterns: [say]}}
${yaml}`),
  });
  const { code, stdout, stderr } = await run('eval run demo.suite.yaml --no-store', { cwd });
  const faults = words.filter(isFault).length;
  const status = faults > tolerates * words.length ? 'error' : isMet(words) ? 'passed' : 'failed';
  expect({ code, status: stdout.split('\n')[0] }).toEqual({
    code: { passed: 0, failed: 1, error: 2 }[status],
    status: `demo: ${status}`,
  });
  const abstentions = words.filter((word) => word === 'abstain').length;
  const closing = stdout.trimEnd().split('\n').at(-1) + stderr;
  expect(closing.includes('fault')).toBe(faults > 0);
  if (faults > 0) expect(closing).toContain(`${faults} fault`);
  if (abstentions > 0) expect(closing).toContain(`${abstentions} abstention`);
});

const unstartable: readonly { title: string; spec: string; entries?: string; says: string }[] = [
  {
    title: 'an eval without its program',
    spec: 'evals: [{id: e, type: gone}]',
    says: 'gone.sh does not exist',
  },
  {
    title: 'an eval without its script',
    spec: 'evals: [{id: e, type: lost}]',
    says: 'lost.sh does not exist',
  },
  {
    title: 'an eval in a combination',
    spec: 'evals: [{id: e, not: {type: plain}}]',
    says: 'is not executable',
  },
  {
    title: 'a filter',
    entries: 'hooks: {h: {command: ./gone.sh, hook: tool}}\n',
    spec: '',
    says: 'hooks[h].command',
  },
  {
    title: 'a judge',
    spec: 'evals: [{id: e, type: llm_judge, params: {criteria: c}}]',
    says: 'KEY_OF_NO_ONE',
  },
  {
    title: 'the model of a chat',
    spec: 'subject: {chat: {provider: main, messages: hi}}',
    says: 'KEY_OF_NO_ONE',
  },
];

test.each(unstartable)('$title that cannot start ends the run before the first case', async (each) => {
  const cwd = folderOf({
    'runtime.yaml': config(`state_store: {type: memory}
providers: [{id: main, type: openai, model: m, credential: {credential_env: KEY_OF_NO_ONE}}]
tools: {paid: {description: d, input_schema: {type: object}, exec: {command: ./paid.sh}}}
evals: {gone: {command: ./gone.sh}, lost: {command: sh, args: [lost.sh]}, plain: {command: ./plain.txt}}
${each.entries ?? ''}`),
    'paid.sh': '#!/bin/sh\ntouch paid\necho \'{"result": "hi"}\'\n',
    'plain.txt': 'no program\n',
    'demo.suite.yaml': suite(`
runtime: ./runtime.yaml
cases: [{id: a}, {id: b}]
${each.spec.startsWith('subject') ? '' : 'subject: {tool: paid, args: {}}'}
${each.spec.startsWith('evals') ? '' : 'evals: [{id: e, type: contains, params: {patterns: [hi]}}]'}
${each.spec}`),
  });
  const { code, stdout, stderr } = await run('eval run demo.suite.yaml --no-store', { cwd });
  expect({ code, stdout, isPaid: existsSync(join(cwd, 'paid')) }).toEqual({
    code: 2,
    stdout: '',
    isPaid: false,
  });
  expect(stderr).toContain(each.says);
});

const reducers = ['mean', 'median', 'mode', 'max', 'pass@1', 'pass@2', 'at_least_1'];

test.each(reducers)('a crashed epoch is a fault under %s, even if the other passes', async (reducer) => {
  const cwd = folderOf({
    'runtime.yaml': config('state_store: {type: memory}\nevals: {judge: {command: ./judge.sh}}\n'),
    'judge.sh': '#!/bin/sh\nmkdir once 2> /dev/null && exit 1\necho \'{"score": 1}\'\n',
    ...Object.fromEntries(
      Object.entries({ strict: '', tolerant: 'gates: [{metric: faults, max: 1}]\n' }).map(([name, more]) => [
        `${name}.suite.yaml`,
        suite(
          `runtime: ./runtime.yaml\ncases: [{id: a, content: x}]\nevals: [{id: e, type: judge, role: metric}]\n${more}`,
        ),
      ]),
    ),
  });
  const args = ['--repeat', '2', '--reducer', reducer, '--no-store'];
  const strict = await run(['eval', 'run', 'strict.suite.yaml', ...args], { cwd });
  expect(strict).toMatchObject({ code: 2, stdout: expect.stringContaining('demo: error') });
  expect(strict.stdout + strict.stderr).toContain('1 fault');
  rmdirSync(join(cwd, 'once'));
  const tolerant = await run(['eval', 'run', 'tolerant.suite.yaml', ...args], { cwd });
  expect(tolerant).toMatchObject({ code: 0, stdout: expect.stringContaining('demo: passed') });
});

test('JUnit’s XML marks a fault as an error and an abstention as skipped', async () => {
  const cwd = folderOf({
    'runtime.yaml': config('state_store: {type: memory}\nevals: {judge: {command: ./judge.sh}}\n'),
    'judge.sh': judge,
    'demo.suite.yaml': suite(
      'runtime: ./runtime.yaml\ncases: [{id: crash, content: say-crash}, {id: abstain, content: say-abstain}, {id: low, content: say-low}]\nevals: [{id: e, type: judge, threshold: {min_score: 1}}]\n',
    ),
  });
  await run('eval run demo.suite.yaml --no-store --reporter junit=report.xml', { cwd });
  const xml = readFileSync(join(cwd, 'report.xml'), 'utf8');
  expect(xml).toMatch(/<testsuite name="e" tests="3" failures="1" errors="1" skipped="1"/);
  expect(xml).toMatch(/name="crash"[^>]*><error /);
  expect(xml).toMatch(/name="abstain"[^>]*><skipped>unscored: no claim to judge/);
  expect(xml).toMatch(/name="low"[^>]*><failure /);
});

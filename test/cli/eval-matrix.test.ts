import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { config, folderOf, run, runJson } from './command-line.ts';

const provider = (id: string, yes: string) => `
  - id: ${id}
    type: mock
    model: m-${id}
    pricing: {input_cost_per_1k: 1, output_cost_per_1k: 1}
    additional_config:
      responses:
        - {when: 'messages[0].content.matches("${yes}")', text: "yes", usage: {input_tokens: 10, output_tokens: 2}, repeat: true}
        - {text: "no", usage: {input_tokens: 10, output_tokens: 2}, repeat: true}`;

const runtime = config(
  `providers:${provider('a', 'q1')}${provider('b', 'q')}${provider('c', 'nothing')}\nstate_store: {type: sqlite, path: ./runs.db}\n`,
);

const cases = Array.from({ length: 8 }, (_, index) => `{id: c${index + 1}, q: q${index + 1}}`).join(', ');

const suiteOf = (subject: string, more = '') => `apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: models}
spec:
  runtime: ./runtime.yaml
  cases: [${cases}]
  case: {id: "\${case.id}"}
  subject: ${subject}
  evals: [{id: says_yes, type: contains, params: {patterns: ["yes"]}}]
${more}`;

const two = '{chat: {provider: [a, b], messages: "${case.q}"}}';
const gates = `  gates: [{eval: says_yes, metric: pass_rate, better_than: a, variants: [b]}]\n`;
const files = (suite: string) => ({ 'runtime.yaml': runtime, 's.suite.yaml': suite });
const evalRun = (...args: string[]) => ['eval', 'run', 's.suite.yaml', ...args];

describe('reports', () => {
  test('every reporter names the variants, side by side or with each case [DS-MATRIX-08]', async () => {
    const cwd = folderOf(files(suiteOf(two, gates)));
    const names = ['json', 'jsonl', 'csv', 'junit', 'markdown', 'github', 'sarif', 'html'];
    const reporters = names.flatMap((name) => ['--reporter', `${name}=out.${name}`]);
    const { code, stdout, stderr } = await run(evalRun('--reporter', 'table', ...reporters), { cwd });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/^models: passed\n\n +a ✓ +b ✓\nsays_yes +pass rate +12\.50% +100\.00%\n/);
    expect(stdout).toMatch(/\n +p, verdicts +0\.0156\n/);
    expect(stdout).toMatch(
      /\nanswers +.*\n(.*\n)* +tokens in +80 +80\n +tokens out +16 +16\n +cost +\$0\.096 +\$0\.096\n/,
    );
    expect(stdout).toContain(
      '✓ says_yes (b): pass_rate +0.875 (+0.355 to +1.000) against a, p = 0.0156 (McNemar’s exact test of 8 pairs, 1 tied)',
    );
    expect(stdout).toContain('c2 (a), says_yes: score 0');
    const written = Object.fromEntries(
      names.map((name) => [name, readFileSync(join(cwd, `out.${name}`), 'utf8')]),
    );
    const {
      json = '',
      jsonl = '',
      csv = '',
      junit = '',
      markdown = '',
      github = '',
      sarif = '',
      html = '',
    } = written;
    expect(JSON.parse(json)).toMatchObject({
      variants: [
        { name: 'a', cases: 8 },
        { name: 'b', status: 'passed' },
      ],
      comparisons: [{ a: 'a', b: 'b', evals: { says_yes: { pairs: 8, improvements: 7 } } }],
      gates: [{ variant: 'b', better_than: 'a', test: { name: 'mcnemar' } }],
    });
    const lines = jsonl
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0].variants).toEqual([
      { name: 'a', provider: 'a' },
      { name: 'b', provider: 'b' },
    ]);
    expect(lines.slice(1, 4).map(({ id, variant }) => `${id} ${variant}`)).toEqual(['c1 a', 'c1 b', 'c2 a']);
    expect(
      csv
        .split('\r\n')
        .slice(0, 3)
        .map((line) => line.split(',').slice(18, 20)),
    ).toEqual([
      ['content', 'variant'],
      ['yes', 'a'],
      ['yes', 'b'],
    ]);
    expect(junit).toMatch(/<testsuite name="says_yes \(a\)" tests="8" failures="7"/);
    expect(junit).toMatch(/<testsuite name="says_yes \(b\)" tests="8" failures="0"/);
    expect(junit).toContain('<testcase name="c2" classname="models.a.says_yes"');
    expect(markdown).toContain('|  |  | `a` ✅ | `b` ✅ |');
    expect(markdown).toContain('better than `a`');
    expect(github).toContain('case c2 (a), says_yes');
    const results = JSON.parse(sarif).runs[0].results;
    expect(results[0].properties).toMatchObject({ case: 'c2', variant: 'a' });
    expect(html).toContain('"variant":"b"');
  });

  test('a stored run shows the same later, and all variants of a case [DS-MATRIX-08]', async () => {
    const cwd = folderOf(files(suiteOf(two, gates)));
    await run(evalRun('--quiet'), { cwd });
    const shown = await run('eval show last', { cwd });
    expect(shown.stdout).toMatch(/says_yes +pass rate +12\.50% +100\.00%/);
    const { stdout } = await run('eval show last --case c2', { cwd });
    expect(stdout).toMatch(/case +c2\s+variant +a[\s\S]*case +c2\s+variant +b/);
  });
});

test('two runs are compared only where they have the same variants', async () => {
  const cwd = folderOf(files(suiteOf(two)));
  for (const more of [[], [], ['--provider', 'b,a']]) await run(evalRun('--quiet', ...more), { cwd });
  const same = await runJson('eval diff last~2 last~1', { cwd });
  expect(same.document).toMatchObject({ cases: { pairs: 16, regressions: 0, improvements: 0 } });
  const other = await run('eval diff last~1 last', { cwd });
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('A a, b, B b, a') });
});

describe('--provider', () => {
  test('runs several providers in place of one, each as a variant [DS-MATRIX-09]', async () => {
    const cwd = folderOf(files(suiteOf('{chat: {provider: a, messages: "${case.q}"}}')));
    const { document } = await runJson(evalRun('--provider', 'b,c', '--no-store'), { cwd });
    expect(document).toMatchObject({
      ...{ status: 'failed', cases: 16 },
      variants: [
        { name: 'b', status: 'passed' },
        { name: 'c', status: 'failed', overall: { passed: 0 } },
      ],
    });
  });

  test('runs one other provider, without variants [DS-MATRIX-09]', async () => {
    const cwd = folderOf(files(suiteOf('{chat: {provider: a, messages: "${case.q}"}}')));
    const { document } = await runJson(evalRun('--provider', 'b', '--no-store'), { cwd });
    expect(document).toMatchObject({ status: 'passed', cases: 8 });
    expect(document).not.toHaveProperty('variants');
  });

  test('keeps the prompts of the suite [DS-MATRIX-09]', async () => {
    const prompts = '[{name: x, system: X}, {name: y, messages: "q, ${case.q}"}]';
    const subject = `{chat: {provider: a, messages: "\${case.q}", prompts: ${prompts}}}`;
    const cwd = folderOf(files(suiteOf(subject)));
    const named = async (...args: string[]) => {
      const { document } = await runJson(evalRun('--no-store', ...args), { cwd });
      return (document as { variants: { name: string }[] }).variants.map(({ name }) => name);
    };
    expect(await named()).toEqual(['x', 'y']);
    expect(await named('--provider', 'b')).toEqual(['x', 'y']);
    expect(await named('--provider', 'b,c')).toEqual(['b/x', 'b/y', 'c/x', 'c/y']);
  });

  test.each([
    {
      args: ['--provider', 'b,c'],
      says: 'a gate of the suite names the variant a, which this run does not have',
    },
    { args: ['--provider', 'a,a'], says: 'duplicate provider a in --provider' },
    { args: ['--provider', ''], says: '--provider has no provider' },
    { args: ['--provider', 'a,bb'], says: 'there is no provider "bb"' },
  ])('$args is refused [DS-MATRIX-09]', async ({ args, says }) => {
    const cwd = folderOf(files(suiteOf(two, gates)));
    const { code, stderr } = await run(evalRun(...args), { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) });
  });

  test('is refused unless the subject is a chat [DS-MATRIX-09]', async () => {
    const cwd = folderOf(files(suiteOf('{pipeline: p.pipeline.yaml}')));
    const { code } = await run(evalRun('--provider', 'a'), { cwd });
    expect(code).toBe(2);
  });
});

test('subjects of any kind can be variants of one another [DS-MATRIX-01]', async () => {
  const pipeline = `apiVersion: signalbox/v1
kind: Pipeline
spec:
  runtime: ./runtime.yaml
  steps: [{id: said, chat: {provider: b, messages: "\${input.q}"}}]
  output: \${steps.said.text}
`;
  const subject = `
    variants:
      - {name: plain, chat: {provider: a, messages: "\${case.q}"}}
      - {name: piped, pipeline: p.pipeline.yaml, input: {q: "\${case.q}"}}
`;
  const cwd = folderOf({ ...files(suiteOf(subject)), 'p.pipeline.yaml': pipeline });
  const { document } = await runJson(evalRun(), { cwd });
  expect(document).toMatchObject({
    variants: [
      { name: 'plain', overall: { passed: 1 } },
      { name: 'piped', overall: { passed: 8 } },
    ],
  });
});

test('errors in variants are reported with their place', async () => {
  const subject = `
    chat:
      provider: [a, bb]
      prompts: [{name: x, system: "\${cas.q}"}, {name: x}]
`;
  const bad = `  gates:
    - {metric: mean, better_than: a/z}
    - {metric: p10, better_than: a/x}
    - {metric: mean, better_than: a/x, variants: [a/x], min: 0.5}
`;
  const cwd = folderOf(files(suiteOf(subject, bad)));
  const { stdout, stderr } = await run('validate s.suite.yaml', { cwd });
  const found = `${stdout}${stderr}`;
  for (const line of [
    's.suite.yaml:10:21 subject.chat.provider[1]: no provider named bb is declared',
    's.suite.yaml:11:35 subject.chat.prompts[0].system: `${cas.q}` is not a valid expression: Unknown variable: cas',
    's.suite.yaml:11:17 subject.chat.prompts[0]: needs `messages`, here or in the chat',
    's.suite.yaml:11:55 subject.chat.prompts[1].name: another variant of this suite is already named x',
    's.suite.yaml:15:35 gates[0].better_than: no variant of this suite is named a/z',
    's.suite.yaml:16:16 gates[1].metric: better_than compares mean or pass_rate, not p10',
    's.suite.yaml:17:51 gates[2].variants[0]: a variant cannot be better than itself',
    's.suite.yaml:17:62 gates[2].min: cannot be combined with better_than',
  ]) {
    expect(found).toContain(line);
  }
});

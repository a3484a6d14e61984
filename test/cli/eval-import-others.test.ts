import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { folderOf, run, runJson } from './command-line.ts';

/** The result of one promptfoo test, in the form used since version 0.100. */
function result(testIdx: number, promptIdx: number, answer: string | undefined, passes: readonly boolean[]) {
  const types = ['contains', 'contains', 'javascript'];
  const components = passes.map((pass, index) => ({
    pass,
    score: pass ? 1 : 0,
    reason: pass ? 'Assertion passed' : 'not so',
    assertion: { type: types[index], value: 'x' },
  }));
  return {
    promptIdx,
    testIdx,
    testCase: { vars: { n: testIdx }, assert: [] },
    provider: { id: 'file://answer.py', label: 'table' },
    prompt: { raw: `Say ${testIdx}.`, label: 'Say {{n}}.' },
    vars: { n: testIdx },
    response:
      answer === undefined
        ? { error: 'API error: 500' }
        : { output: answer, tokenUsage: { total: 3, prompt: 1, completion: 2 } },
    success: passes.length > 0 && passes.every(Boolean),
    latencyMs: 12,
    cost: 0.001,
    gradingResult:
      answer === undefined ? null : { pass: passes.every(Boolean), score: 1, componentResults: components },
  };
}

const results = {
  evalId: 'eval-abc',
  results: {
    version: 3,
    timestamp: '2026-10-01T10:00:00.000Z',
    results: [
      result(1, 0, 'one', [true, false, true]),
      result(0, 0, 'zero', [true, true, true]),
      result(2, 0, undefined, []),
    ],
  },
};

test('imported promptfoo results are a run that eval diff compares with one of the imported suite [DS-IMPORT-01]', async () => {
  const cwd = folderOf({
    'results.json': JSON.stringify(results),
    'promptfooconfig.yaml': `prompts: ['Say {{n}}.']
providers: [{id: 'file://answer.py', label: table}]
defaultTest:
  assert: [{type: contains, value: o}, {type: contains, value: e}, {type: javascript, value: 'output.length > 2'}]
tests: [{vars: {n: zero}}, {vars: {n: one}}, {vars: {n: two}}]
`,
    'answer.py': 'def call_api(prompt, options, context):\n    return {"output": context["vars"]["n"]}\n',
  });
  const made = await runJson('eval import results.json --output old', { cwd });
  expect(made).toMatchObject({
    code: 0,
    document: { status: 'whole', runs: ['old/promptfoo.run.jsonl'], suites: [], cases: 3 },
  });
  await run('eval import promptfooconfig.yaml --output new', { cwd });
  await run('eval run new/promptfoo.suite.yaml --reporter jsonl=new.jsonl --no-store', { cwd });
  const { code, document } = await runJson('eval diff old/promptfoo.run.jsonl new.jsonl', { cwd });
  expect(code).toBe(0);
  const evals = JSON.parse(JSON.stringify(document)).evals;
  const counts = (id: string) => {
    const found = evals.find((each: { readonly eval_a: string }) => each.eval_a === id);
    return [found.pairs, found.improvements, found.regressions];
  };
  expect([counts('contains'), counts('contains-2'), counts('javascript')]).toEqual([
    [2, 0, 0],
    [2, 1, 0],
    [2, 0, 0],
  ]);
});

test.each([
  {
    title: 'the form of version 2',
    text: JSON.stringify({ results: { version: 2, timestamp: 'x', results: results.results.results } }),
  },
  {
    title: 'the first form, without numbers',
    text: JSON.stringify({
      results: results.results.results.map(({ testIdx, promptIdx, testCase, ...rest }) => rest),
    }),
  },
  { title: 'JSON Lines', text: results.results.results.map((each) => JSON.stringify(each)).join('\n') },
])('results in $title are read [DS-IMPORT-01]', async ({ title, text }) => {
  const cwd = folderOf({ [title === 'JSON Lines' ? 'r.jsonl' : 'r.json']: text });
  const name = title === 'JSON Lines' ? 'r.jsonl' : 'r.json';
  expect(await runJson(['eval', 'import', name], { cwd })).toMatchObject({ code: 0, document: { cases: 3 } });
  const { document } = await runJson(
    'eval diff signalbox/promptfoo.run.jsonl signalbox/promptfoo.run.jsonl --eval-a contains --eval-b contains-2',
    { cwd },
  );
  expect(document).toMatchObject({ evals: [{ pairs: 2, regressions: 1 }] });
});

const oracle = `def call_api(prompt, options, context):
    return {"output": "I think of Oslo. ANSWER: B" if "capital" in prompt else "nobody knows"}
`;

test('Inspect’s samples are run and scored, multiple choices by their letter [DS-IMPORT-02]', async () => {
  const cwd = folderOf({
    'answer.py': oracle,
    'samples.jsonl': [
      '{"id": "a", "input": "Which capital?", "choices": ["Rome", "Oslo"], "target": "B"}',
      '{"input": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "The capital?"}], "target": ["oslo", "Kristiania"]}',
      '{"input": "Who?", "target": "no.ody", "sandbox": "docker"}',
      '{"input": 7}',
    ].join('\n'),
  });
  const made = await runJson('eval import samples.jsonl --provider file://answer.py', { cwd });
  expect(made).toMatchObject({
    code: 1,
    document: {
      status: 'partly',
      cases: 3,
      suites: ['signalbox/samples.suite.yaml'],
      problems: [
        { severity: 'warning', line: 1 },
        { severity: 'error', line: 3, message: '`sandbox` is left out' },
        { severity: 'error', line: 4 },
      ],
    },
  });
  expect(await runJson('validate signalbox/samples.suite.yaml', { cwd })).toMatchObject({ code: 0 });
  const { document } = await runJson('eval run signalbox/samples.suite.yaml --no-store', { cwd });
  expect(document).toMatchObject({
    cases: 3,
    evals: { choice: { count: 1, passed: 1 }, includes: { count: 2, passed: 1 } },
  });
});

const recorded = [
  {
    title: 'Ragas’ of today',
    name: 'ragas.jsonl',
    text: '{"user_input": "Capital?", "response": "It is Oslo", "retrieved_contexts": ["Oslo is the capital."], "reference": "Oslo"}\n',
    evals: ['token_f1', 'factuality', 'faithfulness', 'context_recall', 'similarity', 'answer_relevance'],
  },
  {
    title: 'Ragas’ of before',
    name: 'ragas.json',
    text: '[{"question": "Capital?", "answer": "It is Oslo", "contexts": ["x"], "ground_truth": "Oslo"}]',
    evals: ['token_f1', 'factuality', 'faithfulness', 'context_recall', 'similarity', 'answer_relevance'],
  },
  {
    title: 'DeepEval’s',
    name: 'cases.json',
    text: JSON.stringify({
      testCases: [
        {
          input: 'Capital?',
          actualOutput: 'It is Oslo',
          expectedOutput: 'Oslo',
          toolsCalled: [{ name: 'lookup', inputParameters: { q: 'x' } }],
          expectedTools: [{ name: 'lookup' }],
        },
      ],
    }),
    evals: ['tools', 'token_f1', 'factuality', 'similarity', 'answer_relevance'],
  },
];

test.each(recorded)(
  'recorded test cases of $title become a suite that is valid and runs [DS-IMPORT-02]',
  async ({ name, text, evals }) => {
    const cwd = folderOf({ [name]: text });
    const made = await runJson(['eval', 'import', name, '--output', 'out'], { cwd });
    expect(made).toMatchObject({ code: 0, document: { status: 'whole', cases: 1 } });
    const suite = `out/${name.replace(/\.\w+$/, '')}.suite.yaml`;
    expect(await runJson(['validate', suite], { cwd })).toMatchObject({ code: 0 });
    const { document } = await runJson(['eval', 'run', suite, '--no-store'], { cwd });
    const found = JSON.parse(JSON.stringify(document)).evals;
    expect(Object.keys(found)).toEqual(evals);
    expect(found.token_f1.mean).toBeCloseTo(0.5);
  },
);

test.each([
  ['openai:gpt-4.1', 'answer_relevance', ['llm', 'embedding']],
  ['anthropic:messages:claude-sonnet-4-5', 'llm_judge', ['llm']],
])('relevance judged by %s is %s', async (provider, type, roles) => {
  const cwd = folderOf({ [recorded[0]?.name ?? '']: recorded[0]?.text ?? '' });
  await runJson(['eval', 'import', 'ragas.jsonl', '--output', 'out', '--provider', provider], { cwd });
  const suiteText = readFileSync(join(cwd, 'out/ragas.suite.yaml'), 'utf8');
  const { spec } = parse(readFileSync(join(cwd, 'out/runtime.yaml'), 'utf8'));
  const found = parse(suiteText).spec.evals.find(({ id }: { id: string }) => id === 'answer_relevance');
  expect({
    type: found.type,
    roles: spec.providers.map(({ role = 'llm' }: { role?: string }) => role),
  }).toEqual({ type, roles });
  expect(await runJson('validate out/ragas.suite.yaml', { cwd })).toMatchObject({ code: 0 });
});

const arena = {
  'arena.yaml': `apiVersion: promptkit.altairalabs.ai/v1alpha1
kind: Arena
metadata: {name: desk}
spec:
  prompt_configs: [{id: desk, file: prompts/desk.yaml}]
  providers: [{file: providers/mini.yaml}]
  scenarios:
    - {file: scenarios/order.yaml}
    - {file: ../climb.yaml}
  tools: [{file: tools/lookup.yaml}, {file: tools/fake.yaml}]
  self_play: {enabled: true}
  defaults: {temperature: 0}
`,
  'prompts/desk.yaml':
    'kind: PromptConfig\nspec: {task_type: support, system_template: "Be {{tone}}.", variables: [{name: tone, default: calm}]}\n',
  'providers/mini.yaml':
    'kind: Provider\nmetadata: {name: mini}\nspec: {type: openai, model: gpt-4o-mini, pricing: {input_cost_per_million: 150, output_cost_per_million: 600}}\n',
  'tools/lookup.yaml':
    'kind: Tool\nmetadata: {name: lookup}\nspec: {description: Looks., input_schema: {type: object}, mode: exec, exec: {command: ./lookup.sh}}\n',
  'tools/fake.yaml': 'kind: Tool\nmetadata: {name: fake}\nspec: {mode: mock, mock_result: "42"}\n',
  'lookup.sh': '#!/bin/sh\ncat >/dev/null\necho \'{"result": "found"}\'\n',
  'scenarios/order.yaml': `kind: Scenario
metadata: {name: order}
spec:
  task_type: support
  turns:
    - role: user
      content: Where is order 7?
      assertions:
        - {type: content_includes, params: {patterns: ['order 7'], message: says it}}
        - {type: content_matches, params: {pattern: 'x\${y}'}}
        - {type: is_haiku}
    - {role: user, content: And now?}
`,
};

const api = 'apiVersion: promptkit.altairalabs.ai/v1alpha1\n';

test.each([
  {
    title: 'a provider whose headers hold a key',
    provider: 'headers: {x-api-key: sk-secret-value}',
    assertion: '{type: contains, params: {patterns: [a]}}',
    says: 'the provider `mini` is left out: `headers.x-api-key` cannot be imported',
    written: [],
  },
  {
    title: 'an assertion that holds at times only',
    provider: 'defaults: {temperature: 0}',
    assertion: '{type: contains, params: {patterns: [a]}, when: {x: 1}, enabled: true}',
    says: 'an assertion with `when`, `enabled` is left out',
    written: ['cases.jsonl', 'mini.suite.yaml', 'runtime.yaml'],
  },
])('an import of Arena omits $title, and writes no key [DS-IMPORT-03]', async (each) => {
  const cwd = folderOf({
    'arena.yaml': `${api}kind: Arena\nspec: {providers: [{file: p.yaml}], scenarios: [{file: s.yaml}]}\n`,
    'p.yaml': `kind: Provider\nmetadata: {name: mini}\nspec: {type: openai, model: m, ${each.provider}}\n`,
    's.yaml': `kind: Scenario\nspec: {id: s, turns: [{role: user, content: hi, assertions: [${each.assertion}]}]}\n`,
  });
  const { document } = await runJson('eval import arena.yaml', { cwd });
  const { problems } = JSON.parse(JSON.stringify(document));
  expect(problems.map(({ message }: { readonly message: string }) => message)).toEqual([each.says]);
  const out = join(cwd, 'signalbox');
  const names = existsSync(out) ? readdirSync(out).toSorted() : [];
  expect(names).toEqual(each.written);
  expect(names.some((name) => /sk-secret|contains/.test(readFileSync(join(out, name), 'utf8')))).toBe(false);
});

test('imported scenarios of PromptKit Arena keep their first turns, assertions and programs [DS-IMPORT-03]', async () => {
  const cwd = folderOf(arena);
  const made = await runJson('eval import arena.yaml', { cwd });
  const { problems } = JSON.parse(JSON.stringify(made.document));
  expect(made).toMatchObject({
    code: 1,
    document: { status: 'partly', cases: 1, suites: ['signalbox/mini.suite.yaml'] },
  });
  expect(
    problems.map(({ file, line, severity }: Record<string, unknown>) => `${file}:${line} ${severity}`),
  ).toEqual(
    expect.arrayContaining([
      'arena.yaml:9 error',
      'arena.yaml:11 error',
      'arena.yaml:12 error',
      'tools/fake.yaml:3 error',
      'scenarios/order.yaml:11 error',
      'scenarios/order.yaml:12 error',
    ]),
  );
  expect(problems).toHaveLength(6);
  const files = ['signalbox/runtime.yaml', 'signalbox/mini.suite.yaml'];
  expect(await runJson(['validate', ...files], { cwd })).toMatchObject({ code: 0 });
  const { document } = await runJson('tool call lookup --config signalbox/runtime.yaml', { cwd });
  expect(document).toEqual({ status: 'ok', result: 'found' });
});

test('a scenario alone is run with the provider that is named [DS-IMPORT-03]', async () => {
  const cwd = folderOf({
    's.yaml': `apiVersion: promptkit.altairalabs.ai/v1alpha1\n${arena['scenarios/order.yaml']}`,
  });
  await run('eval import s.yaml --provider echo', { cwd });
  const { document } = await runJson('eval run signalbox/echo.suite.yaml --no-store', { cwd });
  expect(document).toMatchObject({
    cases: 1,
    evals: { content_includes: { passed: 1 }, content_matches: { passed: 0, unscored: 0 } },
  });
});

test.each([
  { name: 'x.json', text: '{"results": 7}', from: 'promptfoo-results', codes: 'CONFIG_INVALID' },
  { name: 'x.jsonl', text: '', from: 'promptfoo-results', codes: 'CONFIG_INVALID' },
  { name: 'x.yaml', text: 'kind: [', from: 'arena', codes: 'CONFIG_INVALID' },
  { name: 'y.yaml', text: '', from: undefined, codes: 'CONFIG_INVALID' },
])('a broken $name exits with $codes [DS-IMPORT-04]', async ({ name, text, from, codes }) => {
  const cwd = folderOf({ [name]: text });
  const made = await runJson(['eval', 'import', name, ...(from === undefined ? [] : ['--from', from])], {
    cwd,
  });
  expect(made).toMatchObject({ code: 2, document: { error: { code: codes } } });
});

test.each(['inspect', 'ragas', 'deepeval'])(
  '%s with invalid rows reports each of them, and writes nothing [DS-IMPORT-04]',
  async (from) => {
    const cwd = folderOf({ 'x.jsonl': '{"input": {}}\n[]\n{\n"x"\n' });
    const made = await runJson(['eval', 'import', 'x.jsonl', '--from', from], { cwd });
    expect(made).toMatchObject({ code: 1, document: { status: 'none', files: [], cases: 0 } });
  },
);

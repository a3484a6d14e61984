import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../../src/base/json/json.ts';
import { formatProblem } from '../../../src/base/yaml/check.ts';
import type { Suite } from '../../../src/suites/file/model.ts';
import { loadSuite, requireSuite } from '../../../src/suites/load.ts';
import type { SuiteRuntime } from '../../../src/suites/suite-runtime.ts';
import { header, writeFiles } from '../support.ts';

const fixture = new URL('../../fixtures/suite/gsm8k.suite.yaml', import.meta.url).pathname;
const folder = new URL('../../fixtures/suite/', import.meta.url).pathname;

/** The problems of a suite, one line each, without the folder. `spec` starts at line 4. */
function problemsOf(spec: string, evalTypes?: readonly string[]): string[] {
  return problemsOfText(`${header}spec:\n${spec}`, evalTypes);
}

function problemsOfText(text: string, evalTypes?: readonly string[]): string[] {
  const root = writeFiles({ 'x.suite.yaml': text, 'rows.jsonl': '', 'runtime.yaml': '' });
  const { suite, problems } = loadSuite(join(root, 'x.suite.yaml'), evalTypes && runtimeWith(evalTypes));
  const errors = problems.filter(({ severity }) => severity === 'error');
  expect(suite === undefined).toBe(errors.length > 0);
  return problems.map((problem) => formatProblem(problem).replaceAll(`${root}/`, ''));
}

const anExpression = { evaluate: expect.any(Function) };
const plainEval = { role: 'assertion', threshold: anExpression, weight: 1, reducer: { kind: 'mean' } };

function runtimeWith(evals: readonly string[]): SuiteRuntime {
  return {
    evals: evals.map((name) => ({ name })),
    tools: [],
    privateHosts: [],
    hooks: [],
    foreign: [],
    imports: [],
    providers: [],
  };
}

test('a suite is read with every key', () => {
  const { suite, problems } = loadSuite(fixture, runtimeWith(['final_number', 'length']));
  expect(problems).toEqual([]);
  expect(suite).toEqual({
    file: fixture,
    name: 'gsm8k',
    runtime: `${folder}runtime.yaml`,
    dataset: { kind: 'file', path: `${folder}solutions.jsonl`, privateHosts: [] },
    mapping: { identity: anExpression, body: anExpression, tagsLine: 11 },
    evals: [
      { ...plainEval, id: 'exact', check: { kind: 'check', type: 'final_number', params: anExpression } },
      {
        ...plainEval,
        id: 'short',
        role: 'metric',
        check: { kind: 'check', type: 'length', params: anExpression, content: anExpression },
      },
    ],
    gates: [
      { eval: 'exact', metric: 'pass_rate', min: 0.5 },
      { eval: 'exact', metric: 'mean', tag: 'large', min: 0.25, max: 1 },
    ],
    epochs: 1,
    retries: 0,
  });
  expect(suite?.evals.map(({ threshold }) => threshold.evaluate({}))).toEqual([
    { min_score: 1 },
    { min_score: 0.2, max_score: 0.9 },
  ]);
});

test('a minimal suite has its defaults', () => {
  const root = writeFiles({
    'tiny.suite.yaml': `${header}spec:\n  cases: [{content: a}]\n  evals: [{id: e, type: t}]\n`,
  });
  const file = join(root, 'tiny.suite.yaml');
  expect(requireSuite(file, runtimeWith(['t']))).toEqual({
    file,
    name: 'tiny',
    dataset: { kind: 'inline', file, rows: [{ line: 4, value: { content: 'a' } }], privateHosts: [] },
    mapping: { identity: anExpression, body: anExpression },
    evals: [{ ...plainEval, id: 'e', check: { kind: 'check', type: 't', params: anExpression } }],
    gates: [],
    epochs: 1,
    retries: 0,
  });
});

test.each([
  { title: 'stdin stays stdin', path: '-', expected: () => '-' },
  { title: 'an absolute path stays one', path: '/data/x.jsonl', expected: () => '/data/x.jsonl' },
  {
    title: 'a relative path starts beside the suite',
    path: '../x.jsonl',
    expected: (root: string) => join(root, 'x.jsonl'),
  },
])('$title', ({ path, expected }) => {
  const text = `${header}spec:\n  dataset: {path: "${path}"}\n  case: {content: ''}\n  evals: [{id: e, type: t}]\n`;
  const root = writeFiles({ 'a/x.suite.yaml': text });
  const suite = requireSuite(join(root, 'a/x.suite.yaml'), undefined);
  expect(suite.dataset).toEqual({ kind: 'file', path: expected(root) });
});

test('numbers keep the digits that the file has', () => {
  const root = writeFiles({
    'x.suite.yaml': `${header}spec:
  cases: [{content: a, id: 12345678901234567890, n: [1.5, 0.12345678901234567890]}]
  evals: [{id: e, type: t, params: {truth: 98765432109876543210, x: 1.10, row: "\${case}"}}]\n`,
  });
  const suite: Suite = requireSuite(join(root, 'x.suite.yaml'), undefined);
  const rows = suite.dataset.kind === 'inline' ? suite.dataset.rows : [];
  const row = '{"content":"a","id":12345678901234567890,"n":[1.5,0.12345678901234567890]}';
  expect(rows.map(({ value }) => stringifyJson(value))).toEqual([row]);
  const params = suite.evals.map(({ check }) => (check.kind === 'check' ? check.params : undefined));
  expect(params.map((each) => stringifyJson(each?.evaluate({ case: rows[0]?.value })))).toEqual([
    `{"truth":98765432109876543210,"x":1.1,"row":${row}}`,
  ]);
});

const evals = '  evals: [{id: e, type: t}]\n';
const rows = '  cases: [{content: a}]\n';

const broken = [
  { title: 'no spec', text: header, says: ['x.suite.yaml:1:1 spec: is required'] },
  {
    title: 'another kind and version',
    text: `apiVersion: v1\nkind: Pipeline\nspec:\n${rows}${evals}`,
    says: [
      'x.suite.yaml:2:7 kind: must be EvalSuite (got: Pipeline)\n    hint: Run a pipeline with `signalbox run FILE`.',
    ],
  },
  {
    title: 'unknown keys, everywhere at once',
    spec: `  cases: [{content: a}]\n  case: {content: a, contxt: {}, context: {mesages: []}}\n  evals: [{id: e, type: t, thresold: {}}]\n  gate: []\n`,
    says: [
      'x.suite.yaml:5:22 case.contxt: unknown key\n    hint: did you mean `context`?',
      'x.suite.yaml:5:44 case.context.mesages: unknown key\n    hint: did you mean `messages`?',
      'x.suite.yaml:6:28 evals[0].thresold: unknown key\n    hint: did you mean `threshold`?',
      'x.suite.yaml:7:3 gate: unknown key\n    hint: did you mean `gates`?',
    ],
  },
  {
    title: 'a key twice',
    spec: `${rows}${evals}${evals}`,
    says: [
      expect.stringMatching(
        /^x\.suite\.yaml:6:3 duplicate key .* in one mapping\n {4}hint: Remove one of the two\.$/,
      ),
    ],
  },
  {
    title: 'neither dataset nor cases',
    spec: evals,
    says: ['x.suite.yaml:4:3 spec: needs one of: dataset, cases'],
  },
  {
    title: 'both dataset and cases',
    spec: `  dataset: {path: rows.jsonl}\n${rows}  case: {content: a}\n${evals}`,
    says: ['x.suite.yaml:4:3 spec: accepts only one of: dataset, cases'],
  },
  { title: 'no cases', spec: `  cases: []\n${evals}`, says: ['x.suite.yaml:4:10 cases: must not be empty'] },
  {
    title: 'a case that is no mapping',
    spec: `  cases: [a]\n${evals}`,
    says: ['x.suite.yaml:4:11 cases[0]: must be a mapping, not the string "a"'],
  },
  { title: 'no evals', spec: `${rows}  evals: []\n`, says: ['x.suite.yaml:5:10 evals: must not be empty'] },
  {
    title: 'an eval without id and type',
    spec: `${rows}  evals: [{}]\n`,
    says: [
      'x.suite.yaml:5:11 evals[0]: needs one of: type, not, any_of, all_of, guard',
      'x.suite.yaml:5:11 evals[0].id: is required',
    ],
  },
  {
    title: 'two evals of one id',
    spec: `${rows}  evals: [{id: e, type: t}, {id: e, type: u}]\n`,
    says: [
      'x.suite.yaml:5:34 evals[1].id: another eval of this suite already has the id e\n    hint: Give each eval its own id.',
    ],
  },
  {
    title: 'a role that does not exist',
    spec: `${rows}  evals: [{id: e, type: t, role: asertion}]\n`,
    says: [
      'x.suite.yaml:5:34 evals[0].role: must be one of: assertion, guardrail, metric (got: asertion)\n    hint: did you mean `assertion`?',
    ],
  },
  {
    title: 'thresholds out of range, not finite or of the wrong type',
    spec: `${rows}  evals:\n    - {id: a, type: t, threshold: {min_score: -0.1, max_score: 1.1}}\n    - {id: b, type: t, threshold: {min_score: .nan, max_score: .inf}}\n    - {id: c, type: t, threshold: {min_score: "0.8"}}\n`,
    says: [
      'x.suite.yaml:6:47 evals[0].threshold.min_score: must be at least 0 (got: -0.1)',
      'x.suite.yaml:6:64 evals[0].threshold.max_score: must be at most 1 (got: 1.1)',
      'x.suite.yaml:7:47 evals[1].threshold.min_score: must be a number or a string, not the number NaN',
      'x.suite.yaml:7:64 evals[1].threshold.max_score: must be a number or a string, not the number Infinity',
      'x.suite.yaml:8:47 evals[2].threshold.min_score: must not be text, except an expression `${…}` (got: 0.8)',
    ],
  },
  {
    title: 'bounds that nothing can keep',
    spec: `${rows}  evals: [{id: e, type: t, threshold: {min_score: 0.6, max_score: 0.5}}]\n  gates: [{eval: e, metric: mean, min: 0.3, max: 0.2}]\n`,
    says: [
      'x.suite.yaml:5:51 evals[0].threshold.min_score: 0.6 is more than max_score, which is 0.5, so nothing can pass',
      'x.suite.yaml:6:40 gates[0].min: 0.3 is more than max, which is 0.2, so nothing can pass',
    ],
  },
  {
    title: 'gates of unknown evals and metrics, and without a bound',
    spec: `${rows}${evals}  gates:\n    - {eval: f, metric: mean, min: 0}\n    - {eval: e, metric: medain, min: 0}\n    - {eval: e, metric: mean}\n    - {eval: e, metric: mean, min: 2}\n`,
    says: [
      'x.suite.yaml:7:14 gates[0].eval: no eval of this suite has the id f\n    hint: known ids: e',
      'x.suite.yaml:8:25 gates[1].metric: there is no metric medain\n    hint: did you mean `median`?',
      'x.suite.yaml:9:7 gates[2]: needs one of: min, max, better_than',
      'x.suite.yaml:10:36 gates[3].min: must be at most 1 (got: 2)',
    ],
  },
  {
    title: 'expressions that cannot be compiled, each where it stands',
    spec: `  dataset: {path: rows.jsonl}\n  case:\n    content: \${row.text}\n    tags: ["a", "x \${case.}"]\n  evals:\n    - {id: e, type: t, params: {deep: [{x: "\${shout(case)}"}]}, content: "\${"}\n`,
    says: [
      'x.suite.yaml:6:14 case.content: `${row.text}` is not a valid expression: Unknown variable: row\n    hint: Expressions see the row as `case`.',
      expect.stringMatching(
        /^x\.suite\.yaml:7:17 case\.tags\[1\]: `\$\{case\.\}` is not a valid expression: /,
      ),
      expect.stringMatching(
        /^x\.suite\.yaml:9:44 evals\[0\]\.params\.deep.*: `\$\{shout\(case\)\}` is not a valid expression: /,
      ),
      'x.suite.yaml:9:74 evals[0].content: `${` has no closing brace: write `}` at the end of the expression',
    ],
  },
  {
    title: 'conditions, labels and bounds that are not one whole expression, or can give nothing of the kind',
    spec: `${rows}  case: {content: x, threshold: {min_score: "\${case.a}1"}}\n  evals:
    - {id: a, type: t, if: "case.a == 1"}
    - {id: b, type: t, if: "\${case.a} == 1"}
    - {id: c, type: t, if: "\${size(case.a)}"}
    - {id: d, guard: {hook: tool}, expected: case.bad}
    - {id: f, guard: {hook: tool}, expected: "\${case.bad ? 'yes' : 'no'}"}
    - {id: g, not: {type: t, threshold: {max_score: "\${case.a > 0.5}"}}}
    - {id: h, type: t, if: yes please}
    - {id: i, type: t, if: "\${case.?a.orValue(true)}", threshold: {min_score: "\${1 - 0}", max_score: "\${case.high}"}}
    - {id: j, guard: {hook: tool}, expected: false}\n`,
    says: [
      'x.suite.yaml:5:45 case.threshold.min_score: must be a single `${…}` that gives a number\n    hint: Write a single expression, such as `${case.amount}`.',
      'x.suite.yaml:7:28 evals[0].if: must be a single `${…}` that gives true or false\n    hint: Write `${case.a == 1}`.',
      'x.suite.yaml:8:28 evals[1].if: must be a single `${…}` that gives true or false\n    hint: Write a single expression, such as `${case.amount > 100}`.',
      'x.suite.yaml:9:28 evals[2].if: must give true or false, but `${size(case.a)}` gives a value of type int\n    hint: Write a single expression, such as `${case.amount > 100}`.',
      'x.suite.yaml:10:46 evals[3].expected: must not be text, except an expression `${…}` (got: case.bad)',
      "x.suite.yaml:11:46 evals[4].expected: must give true or false, but `${case.bad ? 'yes' : 'no'}` gives a value of type string\n    hint: Write a single expression, such as `${case.amount > 100}`.",
      'x.suite.yaml:12:53 evals[5].not.threshold.max_score: must give a number, but `${case.a > 0.5}` gives a value of type bool\n    hint: Write a single expression, such as `${case.amount}`.',
      'x.suite.yaml:13:28 evals[6].if: must be a single `${…}` that gives true or false\n    hint: Write a single expression, such as `${case.amount > 100}`.',
    ],
  },
  {
    title: 'a mapping without content',
    spec: `  dataset: {path: rows.jsonl}\n  case: {id: "\${case.id}"}\n  evals: [{id: a, type: t, content: x}, {id: b, type: t}]\n`,
    says: ['x.suite.yaml:5:9 case.content: is required: evals[1] has no content'],
  },
  {
    title: 'numbers that JSON lacks',
    spec: `  cases: [{content: a, n: .inf}]\n  evals: [{id: e, type: t, params: {a: [.nan]}}]\n`,
    says: [
      'x.suite.yaml:4:27 cases[0].n: must be a finite number, because JSON has no other numbers',
      'x.suite.yaml:5:41 evals[0].params.a[0]: must be a finite number, because JSON has no other numbers',
    ],
  },
  {
    title: 'words where a mapping or one expression belongs',
    spec: `${rows}  evals: [{id: e, type: t, params: some}]\n`,
    says: ['x.suite.yaml:5:36 evals[0].params: must not be text, except an expression `${…}` (got: some)'],
  },
];

test.each(broken)('$title: every problem is reported with its place', ({ text, spec = '', says }) => {
  expect(text === undefined ? problemsOf(spec) : problemsOfText(text)).toEqual(says);
});

test('the types of evals are those of the runtime', () => {
  const spec = `${rows}  evals: [{id: e, type: final_numbr}, {id: f, type: length}]\n`;
  expect(problemsOf(spec, ['final_number', 'length'])).toEqual([
    'x.suite.yaml:5:25 evals[0].type: no eval named final_numbr is declared\n    hint: did you mean `final_number`?',
  ]);
  expect(problemsOf(spec, undefined)).toEqual([]);
});

test('files that do not exist yet only cause a warning', () => {
  const spec = `  runtime: r.yaml\n  dataset: {path: later.jsonl}\n  case: {content: ""}\n${evals}`;
  expect(problemsOf(spec)).toEqual([
    'x.suite.yaml:4:12 warning: runtime: r.yaml does not exist\n    hint: Correct the path; it is relative to the folder of this file.',
    'x.suite.yaml:5:19 warning: dataset.path: later.jsonl does not exist\n    hint: Correct the path; it is relative to the folder of this file.',
  ]);
});

test('requireSuite throws all problems', () => {
  const root = writeFiles({ 'x.suite.yaml': `${header}spec:\n${rows}  evals: [{id: a}]\n  more: 1\n` });
  const file = join(root, 'x.suite.yaml');
  const { problems } = loadSuite(file, undefined);
  expect(problems).toHaveLength(2);
  expect(() => requireSuite(file, undefined)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `${file} has 2 problems`,
      details: { problems },
    }),
  );
});

test('a suite that cannot be read is FILE_UNREADABLE', () => {
  expect(() => loadSuite('/nowhere/x.suite.yaml', undefined)).toThrow(
    expect.objectContaining({ code: 'FILE_UNREADABLE' }),
  );
});

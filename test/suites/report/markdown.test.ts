import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reporters } from '../../../src/suites/report/delivery.ts';
import { renderMarkdown, toCode } from '../../../src/suites/report/markdown.ts';
import { evalStatsOf, reportOf, stats, written } from './reports.ts';

const classification = {
  ...{ true_positives: 3, false_positives: 1, true_negatives: 4, false_negatives: 2 },
  ...{ precision: 0.75, recall: 0.6, f1: 0.667, f2: 0.625, accuracy: 0.7, auc: null, latency_ms: {} },
};

const full = reportOf({
  status: 'error',
  bailed: true,
  evals: { exact: evalStatsOf({ tags: { large: stats } }), pii: evalStatsOf({ classification }) },
  gates: [
    { eval: 'exact', metric: 'mean', tag: 'large', value: 0.31, min: 0.5, max: null, passed: false },
    { metric: 'pass_rate', value: null, min: 0.5, max: 0.9, passed: false },
  ],
  failures: [
    { case: 'r1', file: 'rows.jsonl', line: 2, eval: 'exact', score: 0.25, detail: 'said `41`\n| <b>' },
  ],
  failure_count: 30,
  problems: [{ file: 'rows.jsonl', line: 4, column: 1, message: 'the line is a list', hint: 'One object.' }],
  problem_count: 1,
});

const text = `### ⚠️ \`gsm8k\`: error

50.00% of 4 cases in 2.0 s passed, 30 failures, 2 abstentions, 1 invalid row.

The run ended early, because it reached the maximum number of failures.

| gate | metric | value | wanted |  |
| --- | --- | ---: | --- | --- |
| \`exact\` \`large\` | \`mean\` | 0.31 | at least 0.5 | ❌ |
| all cases | \`pass_rate\` | – | at least 0.5 and at most 0.9 | ❌ |

| eval | count | passed | pass rate | mean | 95 % | median | p10 | unscored | flaky |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| \`exact\` | 4 | 2 | 50.00% | 0.667 ± 0.250 | 0.10–1.00 | 1.000 | 0.000 | 1 | 0 |
| └ \`large\` | 4 | 2 | 50.00% | 0.667 ± 0.250 | 0.10–1.00 | 1.000 | 0.000 | 1 | 0 |
| \`pii\` | 4 | 2 | 50.00% | 0.667 ± 0.250 | 0.10–1.00 | 1.000 | 0.000 | 1 | 0 |
| all cases | 4 | 2 | 50.00% | 0.667 ± 0.250 | 0.10–1.00 | 1.000 | 0.000 | 1 | 0 |

| guard | precision | recall | F1 | F2 | AUC | missed | false alarms |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| \`pii\` | 0.750 | 0.600 | 0.667 | 0.625 | – | 2 | 1 |

<details><summary>30 failures, the first 1</summary>

- \`rows.jsonl:2\` case \`r1\`, \`exact\`: \`\`score 0.25: said \`41\` \\| <b>\`\`

</details>

<details><summary>1 invalid row</summary>

- \`rows.jsonl:4\` \`the line is a list\` – \`One object.\`

</details>
`;

test('a comment has the verdict, the gates, the evals, and a collapsed list of failures', async () => {
  expect(await written(reporters.markdown.open, { report: full })).toBe(text);
});

test.each([
  { title: 'a mention', text: '@octocat #1', code: '`@octocat #1`' },
  { title: 'backticks', text: 'a `b` ``c', code: '```a `b` ``c```' },
  { title: 'a backtick at the edge', text: '`a', code: '`` `a ``' },
  { title: 'a pipe', text: 'a|b', code: '`a\\|b`' },
  { title: 'a backslash before a pipe', text: 'a\\|b', code: '`a\\ \\|b`' },
  { title: 'lines', text: 'a\n\n# b', code: '`a # b`' },
  { title: 'a mark that turns the direction', text: 'a\u202Eb', code: '`a\\u202eb`' },
  { title: 'nothing', text: ' \n', code: '' },
])('$title becomes code only', ({ text: hostile, code }) => {
  expect(toCode(hostile)).toBe(code);
});

test('a run with very many tags still fits into a comment, and says what is missing', () => {
  const tags = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`tag ${index}`, stats]));
  const long = renderMarkdown(reportOf({ evals: { exact: evalStatsOf({ tags }) } }));
  expect(Buffer.byteLength(long)).toBeGreaterThan(59_000);
  expect(Buffer.byteLength(long)).toBeLessThanOrEqual(60_000);
  expect(long.trimEnd().split('\n').at(-1)).toBe(
    '_The rest is left out, because the length of this text is limited._',
  );
});

test('a text that is full before the last section meets the limit too', () => {
  const failures = [{ ...{ case: 'c', file: 'rows.jsonl', line: 1, eval: 'exact', score: 0, detail: 'd' } }];
  const report = reportOf({
    failures,
    failure_count: 1,
    evals: { exact: evalStatsOf({ tags: { a: stats } }) },
  });
  const whole = Buffer.byteLength(renderMarkdown(report, 1_000_000));
  for (let longest = 400; longest <= whole; longest += 1)
    expect(Buffer.byteLength(renderMarkdown(report, longest))).toBeLessThanOrEqual(longest);
});

test('property: the limit counts bytes, whatever the script of names, tags and details', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '题', '🙂', ' ', '`', '|'), { maxLength: 600 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
      const tags = Object.fromEntries(
        Array.from({ length: 600 }, (_, at) => [`${at} ${texts[at % texts.length]}`, stats]),
      );
      const failures = texts.map((detail, at) => ({
        ...{ case: detail, file: 'rows.jsonl', line: at, eval: 'exact', score: 0, detail },
        fields: Object.fromEntries(texts.map((each, index) => [`${index}${each}`, each])),
      }));
      const report = reportOf({
        failures,
        failure_count: failures.length,
        evals: { exact: evalStatsOf({ tags }) },
      });
      expect(Buffer.byteLength(renderMarkdown(report))).toBeLessThanOrEqual(60_000);
      expect(Buffer.byteLength(renderMarkdown(reportOf({ failures, failure_count: 9 })))).toBeLessThanOrEqual(
        60_000,
      );
    }),
    { numRuns: 30 },
  );
});

test('a section that is cut is closed', () => {
  const failure = {
    case: 'r1',
    file: 'rows.jsonl',
    line: 2,
    eval: 'exact',
    score: 0,
    detail: 'x'.repeat(400),
  };
  const failures = Array.from({ length: 200 }, () => failure);
  const long = renderMarkdown(reportOf({ failures, failure_count: 200 }));
  expect(Buffer.byteLength(long)).toBeLessThanOrEqual(60_000);
  expect(long.split('\n').slice(-5)).toEqual([
    '',
    '</details>',
    '',
    '_The rest is left out, because the length of this text is limited._',
    '',
  ]);
});

test('a failure shows its row once for all failed evals, without any markup', () => {
  const failure = {
    case: 'r1',
    file: 'rows.jsonl',
    line: 2,
    score: 0,
    detail: '',
    fields: { 'q|': '<b> @me' },
  };
  const failures = [
    { ...failure, eval: 'exact' },
    { ...failure, eval: 'other' },
    { ...failure, eval: 'exact', line: 3, fields: { '': '' } },
  ];
  const lines = renderMarkdown(reportOf({ failures, failure_count: 3 })).split('\n');
  expect(lines.filter((line) => /^ *- /.test(line))).toEqual([
    '- `rows.jsonl:2` case `r1`, `exact`: `score 0`',
    '  - `q\\|`: `<b> @me`',
    '- `rows.jsonl:2` case `r1`, `other`: `score 0`',
    '- `rows.jsonl:3` case `r1`, `exact`: `score 0`',
    '  - (no name): ',
  ]);
});

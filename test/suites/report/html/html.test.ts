import { expect, test } from 'vitest';
import type { CaseRecord, RowProblem, RunHeader, SuiteReport } from '../../../../src/suites/record.ts';
import { openHtmlUpTo } from '../../../../src/suites/report/html/html.ts';
import { newTextSink } from '../reports.ts';
import { failingRun } from './runs.ts';
import { caseOf, epochOf, exact, headerOf, reportOf, resultOf } from './samples.ts';

/** The page of an unfinished run; of a complete one if it has a report. */
async function pageOf(
  cases: readonly CaseRecord[],
  { header = headerOf(), report, problems = [], largestPage = 64 * 2 ** 20 }: PageOptions = {},
): Promise<string> {
  const sink = newTextSink();
  const reporter = openHtmlUpTo(sink, largestPage);
  await reporter.begin(header);
  for (const record of cases) await reporter.onCase(record);
  for (const problem of problems) await reporter.onProblem(problem);
  if (report !== undefined) await reporter.end(report);
  return sink.text();
}

interface PageOptions {
  readonly header?: RunHeader;
  readonly report?: SuiteReport;
  readonly problems?: readonly RowProblem[];
  readonly largestPage?: number;
}

function linesOf(page: string, kind: string): unknown[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith(`${kind} `))
    .map((line) => JSON.parse(line.slice(kind.length + 1)));
}

test('each case is written when it arrives, and released', async () => {
  const { header, cases } = failingRun(5);
  const sink = newTextSink();
  const reporter = openHtmlUpTo(sink, 64 * 2 ** 20);
  await reporter.begin(header);
  for (const [index, one] of cases.entries()) {
    await reporter.onCase(one);
    expect(linesOf(sink.text(), 'detail')).toEqual(cases.slice(0, index + 1));
  }
});

test('a row shows its list data, and why a case did not pass', async () => {
  const { header, cases } = failingRun(2);
  const page = await pageOf(cases, { header });
  expect(linesOf(page, 'row')).toEqual([
    [
      1,
      'gsm8k-1',
      ['model-small'],
      0,
      false,
      false,
      [
        [0, 0, false, false],
        [1, 1 / 6, true, false],
      ],
      'Each basket holds 43 apples, and Nora adds four more. So there are 43 + 4 = 49 apples. The answer is 49.',
      'exact: found 49, expected 47',
    ],
    expect.arrayContaining([2, 'gsm8k-2', true, '']),
  ]);
  expect(linesOf(page, 'detail')).toEqual(cases);
});

test('a case is flaky only if some of its epochs pass as wholes and others do not', async () => {
  const pass = resultOf();
  const fail = resultOf({ score: 0, passed: false });
  const other = { ...fail, eval: 'other' };
  const header = headerOf({ evals: [exact, { ...exact, id: 'other' }] });
  const epochsOf = (...results: (typeof pass)[][]) => results.map((some) => epochOf({ results: some }));
  const cases = [
    caseOf(1, epochsOf([pass], [fail])),
    caseOf(2, epochsOf([pass, other], [fail, other])),
    caseOf(3, epochsOf([pass], [pass])),
  ];
  expect(linesOf(await pageOf(cases, { header }), 'row').map((row) => Object(row)[5])).toEqual([
    true,
    false,
    false,
  ]);
});

const big = 'x'.repeat(20_000);

test('a page that grows too large drops only the details of passed cases', async () => {
  const cases: CaseRecord[] = Array.from({ length: 20 }, (_none, index) => {
    const passed = index % 2 === 0;
    return caseOf(index + 1, [
      epochOf({ content: big, results: [resultOf({ passed, score: Number(passed) })] }),
    ]);
  });
  const page = await pageOf(cases, { report: reportOf(headerOf(), cases), largestPage: 300_000 });
  const kept = linesOf(page, 'detail').map((detail) => Object(detail).number);
  const dropped = cases.map(({ number }) => number).filter((number) => !kept.includes(number));
  expect(dropped.filter((number) => number % 2 === 0)).toEqual([]);
  expect(linesOf(page, 'row')).toHaveLength(20);
  expect(dropped.length).toBeGreaterThan(2);
  expect(linesOf(page, 'notice')).toEqual([{ dropped: dropped.length }]);
});

test('no data text spans two blocks, and blocks stay small enough to parse as one text', async () => {
  const content = 'y'.repeat(1_500_000);
  const cases = [1, 2, 3, 4].map((number) => caseOf(number, [epochOf({ content })]));
  const page = await pageOf(cases, { report: reportOf(headerOf(), cases) });
  const blocks = page.split('<script type="text/plain" data-block>').slice(1);
  expect(blocks.map((block) => (block.match(/^detail /gm) ?? []).length)).toEqual([2, 2]);
});

test('a case that is nested too deeply to be written keeps its row', async () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 20_000; depth += 1) deep = [deep];
  const page = await pageOf([caseOf(1, [epochOf({ metadata: { deep } })])]);
  expect([linesOf(page, 'row').length, linesOf(page, 'detail').length]).toEqual([1, 0]);
});

test('problems beyond the first thousand are counted and not listed', async () => {
  const problems = Array.from({ length: 1001 }, (_none, index) => ({
    ...{ file: 'x.jsonl', line: index + 1, column: 1, message: 'the line is a list' },
  }));
  expect(linesOf(await pageOf([], { problems }), 'problem')).toHaveLength(1000);
});

test('a case of 60 MB is cut to the page limit, with a note', async () => {
  const row = { page: 'x'.repeat(30_000_000), list: Array.from({ length: 100_000 }, (_, index) => index) };
  const failed = resultOf({ score: 0, passed: false });
  const content = 'y'.repeat(30_000_000);
  const page = await pageOf([caseOf(1, [epochOf({ content, results: [failed] })], { row })]);
  expect(page.length).toBeLessThan(10 * 2 ** 20);
  expect(linesOf(page, 'detail')).toMatchObject([
    {
      page_cuts: [
        { path: 'epochs[0].content', unit: 'characters', kept: 1_000_000, length: 30_000_000 },
        { path: 'row.page', unit: 'characters', kept: 1_000_000, length: 30_000_000 },
        { path: 'row.list', unit: 'items', kept: 10_000, length: 100_000 },
      ],
    },
  ]);
});

test('a case of very many texts is cut further, until it is small enough', async () => {
  const pages = Array.from({ length: 2000 }, () => 'x'.repeat(30_000));
  const page = await pageOf([caseOf(1, [epochOf()], { row: { pages } })]);
  const [detail] = linesOf(page, 'detail');
  expect(Object(detail).page_cuts[0]).toEqual({ path: 'row.pages', unit: 'items', kept: 100, length: 2000 });
  expect(page.length).toBeLessThan(9 * 2 ** 20);
});

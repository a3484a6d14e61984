import { expect, test } from 'vitest';
import type { CaseRecord } from '../../../../src/suites/record.ts';
import { openHtmlUpTo } from '../../../../src/suites/report/html/html.ts';
import { failingRun } from './runs.ts';
import { caseOf, epochOf, exact, headerOf, reportOf, resultOf } from './samples.ts';

/** A reporter, and what it has written so far. */
function record(largestPage = 64 * 2 ** 20) {
  const written: string[] = [];
  const write = async (text: string): Promise<void> => {
    written.push(text);
  };
  return { reporter: openHtmlUpTo({ write, hasColour: false, columns: undefined }, largestPage), written };
}

/** The JSON of the lines of one kind, read as a page does. */
function linesOf(written: readonly string[], kind: string): unknown[] {
  const lines = written.join('').split('\n');
  return lines
    .filter((line) => line.startsWith(`${kind} `))
    .map((line) => JSON.parse(line.slice(kind.length + 1)));
}

const numbersOf = (written: readonly string[]): unknown[] =>
  linesOf(written, 'detail').map((detail) => Object(detail).number);

test('each case is written when it comes, and kept no longer', async () => {
  const { header, cases } = failingRun(5);
  const { reporter, written } = record();
  await reporter.begin(header);
  for (const [index, one] of cases.entries()) {
    await reporter.onCase(one);
    expect(linesOf(written, 'detail')).toEqual(cases.slice(0, index + 1));
  }
});

test('a row says what the list shows, and why a case did not pass', async () => {
  const { header, cases } = failingRun(2);
  const { reporter, written } = record();
  await reporter.begin(header);
  for (const one of cases) await reporter.onCase(one);
  const [failed, passed] = cases;
  expect(linesOf(written, 'row')).toEqual([
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
  expect(linesOf(written, 'detail')).toEqual([failed, passed]);
});

test('only a case of which some epochs passed as wholes and others did not is flaky', async () => {
  const pass = resultOf();
  const fail = resultOf({ score: 0, passed: false });
  const other = { ...fail, eval: 'other' };
  const header = headerOf({ evals: [exact, { ...exact, id: 'other' }] });
  const { reporter, written } = record();
  await reporter.begin(header);
  const epochsOf = (...results: (typeof pass)[][]) => results.map((some) => epochOf({ results: some }));
  await reporter.onCase(caseOf(1, epochsOf([pass], [fail])));
  await reporter.onCase(caseOf(2, epochsOf([pass, other], [fail, other])));
  await reporter.onCase(caseOf(3, epochsOf([pass], [pass])));
  expect(linesOf(written, 'row').map((row) => Object(row)[5])).toEqual([true, false, false]);
});

const big = 'x'.repeat(20_000);

test('a page that grows too large drops details of passed cases, and no other', async () => {
  const cases: CaseRecord[] = Array.from({ length: 20 }, (_none, index) => {
    const passed = index % 2 === 0;
    return caseOf(index + 1, [
      epochOf({ content: big, results: [resultOf({ passed, score: Number(passed) })] }),
    ]);
  });
  const { reporter, written } = record(300_000);
  await reporter.begin(headerOf());
  for (const one of cases) await reporter.onCase(one);
  await reporter.end(reportOf(headerOf(), cases));
  const numbers = numbersOf(written);
  const dropped = cases.map(({ number }) => number).filter((number) => !numbers.includes(number));
  expect({
    even: dropped.filter((number) => number % 2 === 0),
    rows: linesOf(written, 'row').length,
  }).toEqual({
    even: [],
    rows: 20,
  });
  expect(dropped.length).toBeGreaterThan(2);
  expect(linesOf(written, 'notice')).toEqual([{ dropped: dropped.length }]);
});

test('no text of data stands in more than one block, and blocks stay small enough to be read as one text', async () => {
  const content = 'y'.repeat(1_500_000);
  const cases = [1, 2, 3, 4].map((number) => caseOf(number, [epochOf({ content })]));
  const { reporter, written } = record();
  await reporter.begin(headerOf());
  for (const one of cases) await reporter.onCase(one);
  await reporter.end(reportOf(headerOf(), cases));
  const blocks = written.join('').split('<script type="text/plain" data-block>').slice(1);
  expect(blocks.map((block) => (block.match(/^detail /gm) ?? []).length)).toEqual([2, 2]);
});

test('a case that is nested too deeply to be written keeps its row', async () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 20_000; depth += 1) deep = [deep];
  const { reporter, written } = record();
  await reporter.begin(headerOf());
  await reporter.onCase(caseOf(1, [epochOf({ metadata: { deep } })]));
  expect([linesOf(written, 'row').length, linesOf(written, 'detail').length]).toEqual([1, 0]);
});

test('problems beyond the first thousand are counted and not listed', async () => {
  const { reporter, written } = record();
  await reporter.begin(headerOf());
  for (let line = 1; line <= 1001; line += 1) {
    await reporter.onProblem({ file: 'x.jsonl', line, column: 1, message: 'the line is a list' });
  }
  expect(linesOf(written, 'problem').length).toBe(1000);
});

test('a case of 60 MB is cut to what a page can hold, and that is told', async () => {
  const { reporter, written } = record();
  await reporter.begin(headerOf());
  const row = { page: 'x'.repeat(30_000_000), list: Array.from({ length: 100_000 }, (_, index) => index) };
  const failed = resultOf({ score: 0, passed: false });
  await reporter.onCase(
    caseOf(1, [epochOf({ content: 'y'.repeat(30_000_000), results: [failed] })], { row }),
  );
  expect(written.join('').length).toBeLessThan(10 * 2 ** 20);
  expect(linesOf(written, 'detail')).toMatchObject([
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
  const { reporter, written } = record();
  await reporter.begin(headerOf());
  const pages = Array.from({ length: 2000 }, () => 'x'.repeat(30_000));
  await reporter.onCase(caseOf(1, [epochOf()], { row: { pages } }));
  const [detail] = linesOf(written, 'detail');
  expect(Object(detail).page_cuts[0]).toEqual({ path: 'row.pages', unit: 'items', kept: 100, length: 2000 });
  expect(written.join('').length).toBeLessThan(9 * 2 ** 20);
});

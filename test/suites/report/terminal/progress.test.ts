import { expect, test } from 'vitest';
import type { SuiteProgress } from '../../../../src/suites/file/model.ts';
import { openProgress, type Progress } from '../../../../src/suites/report/terminal/progress.ts';
import { caseOf, evalResultOf, headerOf } from '../reports.ts';

interface Stream {
  readonly isTTY?: boolean;
  columns?: number;
}

interface Drawing {
  readonly progress: Progress;
  readonly written: string[];
  wait(ms: number): void;
}

function draw(
  stream: Stream,
  options: { quiet?: boolean; colour?: boolean; failures?: number } = {},
): Drawing {
  const written: string[] = [];
  let time = 1000;
  const write = (text: string) => written.push(text);
  const progress = openProgress(Object.assign(stream, { write }), { now: () => time, ...options });
  return {
    progress,
    written,
    wait(ms) {
      time += ms;
    },
  };
}

const erase = '\r\u001B[2K';
const none: SuiteProgress = {
  ...{ cases: 0, problems: 0, evals: 0, failed: 0, unscored: 0, passed: 0 },
  ...{ total: null, fraction: null },
};
const ten: SuiteProgress = { ...none, cases: 10, evals: 20, passed: 10 };
const failing = caseOf([evalResultOf({ score: 0, passed: false, detail: 'said 41\ninstead' })], { id: '17' });

const lines: { title: string; progress: SuiteProgress; columns?: number; line: string }[] = [
  {
    title: 'where nobody knows an end, it tells cases, pace and pass rate',
    progress: { ...ten, passed: 8, failed: 5, unscored: 3 },
    line: '10 cases  5.0/s  80.00% passed  5 failed  3 unscored',
  },
  {
    title: 'with a total it has a bar and the remaining time',
    progress: { ...ten, total: 40 },
    line: '█████░░░░░░░░░░░░░░░ 25 %  10/40 cases  5.0/s  6.0 s left  100.00% passed',
  },
  {
    title: 'rows that are done too',
    progress: { ...ten, problems: 10, total: 40 },
    line: '██████████░░░░░░░░░░ 50 %  10/40 cases  5.0/s  2.0 s left  100.00% passed  10 invalid rows',
  },
  {
    title: 'without a total, what is read of the dataset tells the remaining time',
    progress: { ...ten, fraction: 0.5 },
    line: '██████████░░░░░░░░░░ 50 %  10 cases  5.0/s  2.0 s left  100.00% passed',
  },
  {
    title: 'before the first case there is neither a pass rate nor a remaining time',
    progress: { ...none, total: 40 },
    line: '░░░░░░░░░░░░░░░░░░░░ 0 %  0/40 cases  0.0/s',
  },
  {
    title: 'a narrow terminal has no bar',
    progress: { ...ten, total: 40 },
    columns: 60,
    line: '25 %  10/40 cases  5.0/s  6.0 s left  100.00% passed',
  },
  {
    title: 'it never fills the width of the terminal',
    progress: ten,
    columns: 20,
    line: '10 cases  5.0/s  1…',
  },
  {
    title: 'a terminal that knows no width has 80 columns',
    progress: ten,
    columns: 0,
    line: '10 cases  5.0/s  100.00% passed',
  },
  {
    title: 'a terminal that tells too small a width has 80 columns',
    progress: ten,
    columns: 12,
    line: '10 cases  5.0/s  100.00% passed',
  },
  {
    title: 'more cases than were told are the end',
    progress: { ...ten, total: 5 },
    columns: 60,
    line: '100 %  10/5 cases  5.0/s  100.00% passed',
  },
];

test.each(lines)('$title', ({ progress: state, columns = 100, line }) => {
  const { progress, written, wait } = draw({ isTTY: true, columns });
  wait(2000);
  progress.update(state);
  expect(written).toEqual([`${erase}${line}`]);
});

test('it is redrawn at most ten times a second', () => {
  const { progress, written, wait } = draw({ isTTY: true });
  for (let ms = 0; ms < 1000; ms += 5) {
    progress.update(ten);
    wait(5);
  }
  expect(written).toHaveLength(10);
});

test('failures are printed above the line, and the line is drawn again below them', () => {
  const { progress, written, wait } = draw({ isTTY: true, columns: 40 }, { failures: 10 });
  wait(2000);
  progress.update(ten);
  progress.failure(failing);
  expect(written).toEqual([
    `${erase}10 cases  5.0/s  100.00% passed`,
    `${erase}case 17, exact: score 0: said 41 inste…\n${erase}10 cases  5.0/s  100.00% passed`,
  ]);
});

test('before the first line a failure is printed alone', () => {
  const { progress, written } = draw({ isTTY: true, columns: 80 }, { failures: 10 });
  progress.failure(failing);
  expect(written).toEqual(['case 17, exact: score 0: said 41 instead\n']);
});

test('metrics are no failures once the evals are known', () => {
  const { progress, written } = draw({ isTTY: true, columns: 80 }, { failures: 10 });
  const metric = evalResultOf({ eval: 'length', score: 0.1, passed: false });
  const evals = [
    ...headerOf().evals,
    { id: 'length', type: 'count', role: 'metric', weight: 1, reducer: 'mean' } as const,
  ];
  progress.begin(headerOf({ evals }));
  progress.failure(caseOf([metric, evalResultOf({ score: null, passed: false, detail: 'timed out' })]));
  progress.failure(caseOf([metric], { passed: true }));
  expect(written).toEqual(['case r1, exact: unscored: timed out\n']);
});

test('failures are red only when colours are wanted', () => {
  const { progress, written } = draw({ isTTY: true, columns: 80 }, { colour: true, failures: 10 });
  progress.failure(failing);
  expect(written).toEqual(['\u001B[31mcase 17, exact: score 0: said 41 instead\u001B[39m\n']);
});

test('no failure text controls the terminal', () => {
  const { progress, written } = draw({ isTTY: true, columns: 80 }, { failures: 10 });
  progress.failure(caseOf([evalResultOf({ score: 0, passed: false, detail: '\u001B[2J\u202E' })]));
  expect(written).toEqual(['case r1, exact: score 0: \\u001b[2J\\u202e\n']);
});

test('the line is updated although cases fail faster than it is redrawn', () => {
  const { progress, written, wait } = draw({ isTTY: true, columns: 200 }, { failures: 2 });
  for (let cases = 1; cases <= 500; cases += 1) {
    wait(2);
    progress.update({ ...none, cases, evals: cases, failed: cases, total: 500 });
    progress.failure(failing);
  }
  const counts = written.flatMap((text) =>
    [...text.matchAll(/(\d+)\/500 cases/g)].map(([, count]) => Number(count)),
  );
  expect(counts).toEqual([1, 1, 2, ...Array.from({ length: 9 }, (_, index) => 52 + 50 * index)]);
});

test.each([
  { title: 'a terminal', stream: { isTTY: true, columns: 80 } },
  { title: 'a log', stream: {} },
])(
  'of a hundred thousand failures $title shows the configured number, and how many more there are',
  ({ stream }) => {
    const { progress, written } = draw(stream, { failures: 3 });
    for (let count = 0; count < 100_000; count += 1) progress.failure(failing);
    progress.end('signalbox eval html 1');
    progress.end('signalbox eval html 1');
    expect(written).toEqual([
      ...Array(3).fill('case 17, exact: score 0: said 41 instead\n'),
      '99997 more failures: signalbox eval html 1\n',
    ]);
  },
);

test('with a limit of zero failures are counted; when they are off, nothing is printed', () => {
  const [counting, silent] = [draw({}, { failures: 0 }), draw({})];
  for (const { progress } of [counting, silent]) {
    progress.failure(failing);
    progress.end();
  }
  expect(counting.written).toEqual(['1 failure\n']);
  expect(silent.written).toEqual([]);
});

test('in a log a failure is one line of limited length', () => {
  const { progress, written } = draw({}, { failures: 3 });
  progress.failure(caseOf([evalResultOf({ score: 0, passed: false, detail: 'a\nb '.repeat(10_000) })]));
  expect(written.map((text) => [text.length, text.indexOf('\n')])).toEqual([[401, 400]]);
});

test('after the terminal became narrower, every wrapped row of the line is erased', () => {
  const stream = { isTTY: true, columns: 100 };
  const { progress, written, wait } = draw(stream);
  wait(2000);
  progress.update({ ...ten, total: 40 });
  stream.columns = 30;
  wait(1000);
  progress.update(ten);
  expect(written.at(-1)).toBe('\u001B[2A\r\u001B[J10 cases  3.3/s  100.00% pas…');
});

test('it is erased at the end, once', () => {
  const { progress, written } = draw({ isTTY: true });
  progress.update(ten);
  progress.end();
  progress.end();
  expect(written.slice(1)).toEqual([erase]);
});

test('if nothing was drawn, nothing is erased', () => {
  const { progress, written } = draw({ isTTY: true });
  progress.end();
  expect(written).toEqual([]);
});

test('a log has a line every ten seconds, and one at the end', () => {
  const { progress, written, wait } = draw({ columns: 10 });
  for (let second = 1; second <= 25; second += 1) {
    wait(1000);
    progress.update({ ...ten, cases: second, passed: second, total: 25 });
    progress.failure(failing);
  }
  progress.end();
  progress.end();
  expect(written).toEqual([
    '40 %  10/25 cases  1.0/s  15.0 s left  100.00% passed\n',
    '80 %  20/25 cases  1.0/s  5.0 s left  100.00% passed\n',
    '100 %  25/25 cases  1.0/s  100.00% passed\n',
  ]);
});

test('the last state is printed once', () => {
  const { progress, written, wait } = draw({ isTTY: false });
  wait(10_000);
  progress.update(ten);
  progress.end();
  expect(written).toEqual(['10 cases  1.0/s  100.00% passed\n']);
});

test.each([{}, { isTTY: true, columns: 80 }])('quiet writes nothing at all: %j', (stream) => {
  const { progress, written, wait } = draw(stream, { quiet: true });
  progress.begin(headerOf());
  wait(60_000);
  progress.update(ten);
  progress.failure(failing);
  progress.end();
  expect(written).toEqual([]);
});

import { expect, test } from 'vitest';
import { openProgress, type ProgressLine } from '../../../src/suite/report/progress.ts';

interface Drawing {
  readonly line: ProgressLine;
  readonly written: string[];
  wait(ms: number): void;
}

function draw(stream: { isTTY?: boolean; columns?: number }, total?: number): Drawing {
  const written: string[] = [];
  let time = 1000;
  const line = openProgress(
    { ...stream, write: (text: string) => written.push(text) },
    { now: () => time, ...(total === undefined ? {} : { total }) },
  );
  return {
    line,
    written,
    wait(ms) {
      time += ms;
    },
  };
}

const erase = '\r\u001B[2K';
const quiet = { cases: 10, evals: 20, failed: 0, unscored: 0 };

test('without a total it tells cases, pace and pass rate', () => {
  const { line, written, wait } = draw({ isTTY: true, columns: 100 });
  wait(2000);
  line.update({ cases: 10, evals: 20, failed: 5, unscored: 3 });
  expect(written).toEqual([`${erase}10 cases  5.0/s  75.00% passed  3 unscored`]);
});

test('with a total it tells the remaining time', () => {
  const { line, written, wait } = draw({ isTTY: true, columns: 100 }, 40);
  wait(2000);
  line.update(quiet);
  expect(written).toEqual([`${erase}10/40 cases  5.0/s  100.00% passed  6.0 s left`]);
});

test('before the first result there is no pass rate and no remaining time', () => {
  const { line, written } = draw({ isTTY: true, columns: 100 }, 40);
  line.update({ cases: 0, evals: 0, failed: 0, unscored: 0 });
  expect(written).toEqual([`${erase}0/40 cases  0.0/s`]);
});

test('it is redrawn ten times a second at most', () => {
  const { line, written, wait } = draw({ isTTY: true });
  for (let ms = 0; ms < 1000; ms += 5) {
    line.update(quiet);
    wait(5);
  }
  expect(written).toHaveLength(10);
});

test('it is erased at the end, once', () => {
  const { line, written } = draw({ isTTY: true });
  line.update(quiet);
  line.end();
  line.end();
  expect(written.slice(1)).toEqual([erase]);
});

test('nothing drawn, nothing erased', () => {
  const { line, written } = draw({ isTTY: true });
  line.end();
  expect(written).toEqual([]);
});

test('it never fills the width of the terminal', () => {
  const { line, written } = draw({ isTTY: true, columns: 12 });
  line.update(quiet);
  expect(written).toEqual([`${erase}10 cases  …`]);
});

test('a terminal that knows no width gets the line too', () => {
  const { line, written } = draw({ isTTY: true, columns: 0 });
  line.update({ cases: 1, evals: 1, failed: 0, unscored: 0 });
  expect(written.join('')).toContain('1 case');
});

test.each([{}, { isTTY: false, columns: 80 }])('it writes nothing to what is no terminal: %j', (stream) => {
  const { line, written } = draw(stream, 5);
  line.update(quiet);
  line.end();
  expect(written).toEqual([]);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { toHeader } from '../../../src/suites/run/keep-run.ts';
import { newRunAccumulator, type RunAccumulator } from '../../../src/suites/run-accumulator.ts';
import { placesOf } from '../../../src/suites/variants.ts';
import { record, said } from '../stats/records.ts';
import { loadSpec } from '../support.ts';

const suite = loadSpec(`dataset: {path: rows.jsonl}
repeat: {epochs: 2}
subject: {chat: {provider: [one, two, three], messages: hi}}
evals:
  - {id: a, type: t}
  - {id: b, type: t, role: metric}
gates:
  - {eval: a, metric: pass_rate, min: 0.2}
  - {eval: a, metric: mean, better_than: one}
  - {eval: b, metric: pass_rate, better_than: two, variants: [three]}
  - {metric: pass_rate, tag: x, min: 0.1}
`);
const header = toHeader(suite, 'demo-run', new Date(0), null);
const { evals } = header;
const places = placesOf(suite) ?? [];

/** Both scores of a row in two epochs, or that the row is unusable for the variant. */
type Cell = readonly (readonly [a: number | null, b: number | null])[] | 'unusable';
interface Row {
  readonly number: number;
  readonly tags: readonly string[];
  readonly cells: readonly Cell[];
}

function add(accumulator: RunAccumulator, { number, tags, cells }: Row): void {
  for (const [index, cell] of cells.entries()) {
    const place = places[index];
    if (cell === 'unusable') {
      const content = { usable: true, value: {} } as const;
      const row = { number, file: 'rows.jsonl', line: number, content };
      accumulator.addProblem(row, { message: 'no such member' }, place);
      continue;
    }
    const epochs = cell.map(([a, b]) => [said('a', a), said('b', b)]);
    const more = { evals, number, tags, ...(place && { variant: place.name }) };
    accumulator.addCase(record(`c${number}`, epochs, more));
  }
}

function accumulate(rows: readonly Row[]): RunAccumulator {
  const accumulator = newRunAccumulator(suite, { header });
  for (const row of rows) add(accumulator, row);
  return accumulator;
}

const reportOf = (accumulator: RunAccumulator) => accumulator.report({ durationMs: 0, rows: 3 });

function merged(parts: readonly (readonly Row[])[]): RunAccumulator {
  const whole = newRunAccumulator(suite, { header });
  for (const part of parts) whole.merge(JSON.parse(JSON.stringify(accumulate(part).state())));
  return whole;
}

const score = fc.constantFrom(null, 0, 0.1, 1 / 3, 0.5, 0.7, 1);
const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 12, arbitrary: fc.array(fc.tuple(score, score), { minLength: 2, maxLength: 2 }) },
  { weight: 1, arbitrary: fc.constant('unusable' as const) },
);
const rows = fc
  .array(
    fc.record({
      tags: fc.uniqueArray(fc.constantFrom('x', '__proto__'), { maxLength: 2 }),
      cells: fc.array(cell, { minLength: 3, maxLength: 3 }),
    }),
    { maxLength: 40 },
  )
  .map((all) => all.map((row, index): Row => ({ ...row, number: index + 1 })));

describe('tallies of parts of a matrix', () => {
  test('merge to the report of the whole, its comparisons and gates, in any parts and any order [DS-SUITES-05]', () => {
    fc.assert(
      fc.property(rows, fc.array(fc.nat(4), { minLength: 40, maxLength: 40 }), (all, partOf) => {
        const parts = [3, 0, 4, 2, 1].map((part) => all.filter(({ number }) => partOf[number - 1] === part));
        expect(reportOf(merged(parts))).toEqual(reportOf(accumulate(all)));
      }),
      { numRuns: 60 },
    );
  });

  test('compare more differences than the exact sign test covers', () => {
    const all = Array.from({ length: 60 }, (_none, index): Row => {
      const cells = [0, 1, 2].map((by): Cell => {
        const value = ((index * 7 + by * 31) % 20) / 20;
        return [
          [value, 1],
          [value, 0],
        ];
      });
      return { number: index + 1, tags: [], cells };
    });
    const alone = reportOf(accumulate(all));
    expect(alone.comparisons?.[0]?.evals['a']?.score?.test).toBe('paired_t');
    expect(reportOf(merged([all.slice(9, 20), all.slice(20), all.slice(0, 9)]))).toEqual(alone);
  });

  test.each([
    { what: 'other variants', change: { variants: [], comparisons: [] } },
    { what: 'no variants', change: undefined },
  ])('with $what are refused', ({ change }) => {
    const { variants: _left, ...state } = accumulate([]).state();
    const merging = () =>
      newRunAccumulator(suite, { header }).merge(
        change === undefined ? state : { ...state, variants: change },
      );
    expect(merging).toThrow(RuntimeError);
    expect(merging).toThrow(/a stored tally of the run cannot be read/);
  });
});

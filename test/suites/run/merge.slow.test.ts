import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import type { Row, RowFault } from '../../../src/suites/dataset/row.ts';
import type { CaseRecord } from '../../../src/suites/record.ts';
import { toHeader } from '../../../src/suites/run/keep-run.ts';
import { newRunAccumulator, type RunAccumulator } from '../../../src/suites/run-accumulator.ts';
import { decided, record, said } from '../stats/records.ts';
import { loadSpec } from '../support.ts';

const suite = loadSpec(`dataset: {path: rows.jsonl}
repeat: {epochs: 3}
case: {content: x}
gates: [{eval: a, metric: mean, min: 0.2}, {metric: pass_rate, tag: x, min: 0.1}]
evals:
  - {id: a, type: t}
  - {id: b, type: t, role: metric, weight: 3}
  - {id: guard, type: t}
`);
const header = toHeader(suite, 'demo-run', new Date(0), null);
const evals = header.evals;

type Item = { readonly record: CaseRecord } | { readonly row: Row; readonly fault: RowFault };

function accumulate(items: readonly Item[]): RunAccumulator {
  const accumulator = newRunAccumulator(suite, { header, bail: 12 });
  for (const item of items) {
    if ('record' in item) accumulator.addCase(item.record);
    else accumulator.addProblem(item.row, item.fault);
  }
  return accumulator;
}

function reportOf(accumulator: RunAccumulator): string {
  return JSON.stringify(accumulator.report({ durationMs: 0, rows: 3 }));
}

/** Merges the parts in order, each parsed from its JSON. */
function merged(parts: readonly (readonly Item[])[]): RunAccumulator {
  const whole = newRunAccumulator(suite, { header, bail: 12 });
  for (const part of parts) whole.merge(JSON.parse(JSON.stringify(accumulate(part).state())));
  return whole;
}

const score = fc.oneof(
  fc.constant(null),
  fc.constantFrom(0, 0.1, 0.3, 0.5, 1, 1 / 3, Number.MIN_VALUE, 1e-17),
  fc.double({ min: 0, max: 1, noNaN: true }),
);
const hook = fc.record({
  name: fc.constantFrom('one', 'two', '__proto__', 'constructor'),
  verdict: fc.constant('allow' as const),
  duration_ms: fc.constantFrom(0, 0.0004, 1, 7.5, 1e9),
});
const judged = fc.record({
  a: score,
  b: score,
  guard: fc.option(
    fc.record({
      expected: fc.constantFrom(true, false, null),
      flagged: fc.boolean(),
      confidence: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 50 }),
      hooks: fc.array(hook, { maxLength: 2 }),
    }),
  ),
  duration: fc.constantFrom(0, 1, 12.5, 1e12),
});
const someCase = fc.record({
  tags: fc.uniqueArray(fc.constantFrom('x', 'y', '7', '__proto__', 'toString'), { maxLength: 3 }),
  epochs: fc.array(judged, { minLength: 1, maxLength: 3 }),
});
const fault = fc.record({
  line: fc.option(fc.integer({ min: 1, max: 3 })),
  message: fc.constantFrom('one', 'two', 'three'),
});
const items = fc
  .array(fc.oneof({ weight: 5, arbitrary: someCase }, { weight: 1, arbitrary: fault }), { maxLength: 90 })
  .map((all) =>
    all.map((each, index) => ('epochs' in each ? toCase(each, index + 1) : toFault(each, index + 1))),
  );

function toCase(
  { tags, epochs }: typeof someCase extends fc.Arbitrary<infer T> ? T : never,
  number: number,
): Item {
  const results = epochs.map(({ a, b, guard, duration }) => [
    said('a', a, { duration_ms: duration, queue_ms: duration / 2 }),
    said('b', b),
    ...(guard === null ? [] : [said('guard', a, { guard: decided(guard) })]),
  ]);
  return { record: record(`c${number}`, results, { evals, number, tags }) };
}

function toFault(
  { line, message }: typeof fault extends fc.Arbitrary<infer T> ? T : never,
  number: number,
): Item {
  const row: Row = { number, file: 'rows.jsonl', line: number, content: { usable: true, value: {} } };
  return {
    row,
    fault: line === null ? { message } : { message, location: { file: 'demo.suite.yaml', line } },
  };
}

const partition = items.chain((all) =>
  fc
    .record({
      parts: fc.array(fc.nat(6), { minLength: all.length, maxLength: all.length }),
      order: fc.shuffledSubarray(all, { minLength: all.length }),
      partOrder: fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 7 }),
    })
    .map(({ parts, order, partOrder }) => ({
      all,
      split: partOrder.map((part) => order.filter((item) => parts[all.indexOf(item)] === part)),
    })),
);

describe('tallies of a run', () => {
  test('merge to the same report, byte for byte, in any parts and any order', () => {
    fc.assert(
      fc.property(partition, ({ all, split }) => {
        const alone = reportOf(accumulate(all));
        expect(reportOf(merged(split))).toBe(alone);
        const halves = [split.slice(0, 3), split.slice(3)].map((parts) =>
          JSON.stringify(merged(parts).state()),
        );
        const fromHalves = newRunAccumulator(suite, { header, bail: 12 });
        for (const half of halves) fromHalves.merge(JSON.parse(half));
        expect(reportOf(fromHalves)).toBe(alone);
      }),
      { numRuns: 300 },
    );
  });

  test('do so with more different scores than are stored exactly, in all, in some parts and in a tag', () => {
    const cases = Array.from({ length: 12_000 }, (_none, index): Item => {
      const value = ((index * 7919) % 12_000) / 12_000;
      return { record: record(`c${index}`, [[said('a', value)]], { evals, number: index + 1, tags: ['x'] }) };
    });
    const alone = reportOf(accumulate(cases));
    expect(reportOf(merged([cases.slice(0, 11_500), cases.slice(11_500)]))).toBe(alone);
    expect(reportOf(merged([cases.slice(4000, 8000), cases.slice(8000), cases.slice(0, 4000)]))).toBe(alone);
  });

  test('count too many different tags as one problem of the run, wherever they exceed the limit', () => {
    const cases = Array.from({ length: 10_001 }, (_none, index): Item => {
      return {
        record: record(`c${index}`, [[said('a', 1)]], { evals, number: index + 1, tags: [`t${index}`] }),
      };
    });
    const alone = accumulate(cases).report({ durationMs: 0, rows: 3 });
    expect(alone).toMatchObject({ status: 'error', cases: 10_001, problem_count: 1, overall: { tags: {} } });
    expect(alone.problems[0]?.message).toBe('tags: there are more than 10000 different tags');
    const parts = [cases.slice(6000), cases.slice(0, 6000)];
    expect(reportOf(merged(parts))).toBe(JSON.stringify(alone));
    const fits = accumulate(cases.slice(1)).report({ durationMs: 0, rows: 3 });
    expect(fits.problem_count).toBe(0);
    expect(Object.keys(fits.overall.tags)).toHaveLength(10_000);
  });

  test('of another version, of other evals or damaged are refused', () => {
    const state = accumulate([]).state();
    const refused = (value: unknown): string => {
      try {
        newRunAccumulator(suite, { header }).merge(value);
      } catch (error) {
        return error instanceof RuntimeError ? `${error.code} ${error.message}` : String(error);
      }
      return 'merged';
    };
    expect(refused(state)).toBe('merged');
    expect(refused({ ...state, version: 2 })).toMatch(
      /STORE_FAILED.*version 2, but this Signalbox reads version 1/,
    );
    expect(refused(null)).toMatch(/STORE_FAILED.*no version/);
    expect(refused({ ...state, passed: 'all' })).toMatch(/STORE_FAILED.*damaged at passed/);
    expect(refused({ ...state, stats: { ...state.stats, evals: [] } })).toMatch(
      /STORE_FAILED.*different evals/,
    );
  });
});

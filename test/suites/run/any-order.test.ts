import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scored, unscored } from '../../../src/contract/eval.ts';
import type { CaseRecord } from '../../../src/suites/record.ts';
import { judge, loadSpec, run, toLines } from '../support.ts';

const spec = (epochs: number, reducer: string) => `dataset: {path: rows.jsonl}
repeat: {epochs: ${epochs}, reducer: ${reducer}}
case: {content: x, tags: ["\${case.tag}"]}
evals:
  - {id: a, type: t, params: {score: "\${case.score}"}}
  - {id: b, type: t, params: {score: "\${case.score}"}, role: metric, threshold: {min_score: 0.4}}
`;

const row = fc.record({
  tag: fc.constantFrom('x', 'y', null),
  /** null: unscored. */
  score: fc.constantFrom(0, 0.5, 1, 1, 1, null),
});

test('cases, their order, verdicts and the report are the same with a window of 1, 2 and 16, with epochs and with bail', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 24 }),
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom('mean', 'median', 'mode', 'max', 'pass@1', 'at_least_1'),
      fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      fc.array(fc.nat(5), { minLength: 1, maxLength: 7 }),
      async (rows, epochs, reducer, bail, delays) => {
        const suite = loadSpec(spec(epochs, reducer), toLines(rows));
        const outcomeWith = async (window: number) => {
          const records: CaseRecord[] = [];
          let asked = 0;
          const report = await run(suite, {
            ...{ window, bail },
            reporter: {
              begin: async () => {},
              onProblem: async () => {},
              end: async () => {},
              onCase: async (record) => void records.push(record),
            },
            score: async (evaluation) => {
              const { score } = Object(evaluation.request.params);
              for (let turn = delays[asked++ % delays.length] ?? 0; turn > 0; turn -= 1) await nextTurn();
              return judge(evaluation, typeof score === 'number' ? scored(score, '') : unscored('none'));
            },
          });
          const timeless = { ...report, duration_ms: 0 };
          return { timeless, records: records.map((record) => JSON.stringify(record, withoutTime)) };
        };
        const alone = await outcomeWith(1);
        expect(await outcomeWith(2)).toEqual(alone);
        expect(await outcomeWith(16)).toEqual(alone);
      },
    ),
    { numRuns: 50 },
  );
});

function withoutTime(key: string, value: unknown): unknown {
  return key === 'duration_ms' ? undefined : value;
}

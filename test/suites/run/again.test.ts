import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requireConfig } from '../../../src/config/load.ts';
import { scored, unscored } from '../../../src/contract/eval.ts';
import { memoryFile } from '../../../src/store/sqlite/connection.ts';
import { openSqliteResults } from '../../../src/store/sqlite-result-store.ts';
import { openStoredRun } from '../../../src/suites/journal.ts';
import type { AgainScope, SuiteReport } from '../../../src/suites/record.ts';
import { keepRun, requireRun } from '../../../src/suites/run/keep-run.ts';
import { summarize } from '../../../src/suites/run-accumulator.ts';
import { judge, loadSpec, run, writeFiles } from '../support.ts';

/** Null: no score. */
type Score = 0 | 1 | null;
const score = fc.constantFrom<Score>(0, 1, null);
const scope = fc.constantFrom<AgainScope>('failed', 'unscored', 'all');

const isChosen: Readonly<Record<AgainScope, (score: Score) => boolean>> = {
  failed: (each) => each !== 1,
  unscored: (each) => each === null,
  all: () => true,
};

const folder = writeFiles({ 'runtime.yaml': 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {}\n' });
const config = requireConfig(join(folder, 'runtime.yaml'), '');

/** A store with a suite, and functions that start, abort and repeat its runs. */
async function openDesk(cases: number, epochs: number) {
  const rows = Array.from({ length: cases }, (_, index) => ({ id: `c${index}`, index }));
  const suite = loadSpec(
    `dataset: {path: rows.jsonl}
case: {id: "\${case.id}", content: x}
evals: [{id: e, type: t, params: {index: "\${case.index}"}, threshold: {min_score: 1}}]
repeat: {epochs: ${epochs}}
gates: [{eval: e, metric: pass_rate, min: 0.5}]`,
    rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  );
  const store = await openSqliteResults(memoryFile);
  const begin = async (
    scores: readonly Score[],
    how: {
      readonly resume?: string;
      readonly again?: AgainScope;
      readonly id?: string;
      readonly cutAfter?: number;
    },
  ) => {
    const asked = new Set<number>();
    const stop = new AbortController();
    let count = 0;
    const work = keepRun(
      store,
      {
        ...{ suite, config, programs: {}, wanted: {}, resume: how.resume, total: cases },
        again: how.again && { run: how.id ?? '', cases: how.again },
      },
      async (header, journal) =>
        await run(suite, {
          ...{ header, journal, signal: stop.signal },
          score: async (evaluation) => {
            const { params } = evaluation.request;
            const index = 'index' in params ? Number(params.index) : Number.NaN;
            asked.add(index);
            if (count === how.cutAfter) stop.abort();
            count += 1;
            const said = scores[index] ?? null;
            return judge(evaluation, said === null ? unscored('no answer') : scored(said, ''));
          },
        }),
    );
    const report = await work.catch((error: { readonly code?: string }) => error.code);
    return { report, asked: [...asked].toSorted((a, b) => a - b) };
  };
  return { store, begin };
}

function comparable(report: SuiteReport | string | undefined) {
  return JSON.parse(JSON.stringify(report), (key, value: unknown) =>
    /_ms$|^run_id$|^file$|^latency/.test(key) ? undefined : value,
  );
}

test('a re-judged run ends the same after any interruption, and keeps what was replaced', async () => {
  const round = fc.record({
    cases: scope,
    scores: fc.array(score, { minLength: 6, maxLength: 6 }),
    cutAfter: fc.option(fc.nat(8), { nil: undefined }),
    goesOnBy: fc.constantFrom('resume', 'again'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(score, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(1, 2),
      fc.array(round, { minLength: 1, maxLength: 3 }),
      async (first, epochs, rounds) => {
        const { store, begin } = await openDesk(first.length, epochs);
        await begin(first, {});
        const [{ id } = { id: '' }] = await store.listRuns();
        let now = [...first];
        let replaced = 0;
        for (const [at, { cases, scores, cutAfter, goesOnBy }] of rounds.entries()) {
          const chosen = now.flatMap((each, index) => (isChosen[cases](each) ? [index] : []));
          const before = comparable(openStoredRun(store, await requireRun(store, id)).report);
          let { report, asked } = await begin(scores, {
            again: cases,
            id,
            ...(cutAfter !== undefined && { cutAfter }),
          });
          if (report === 'ABORTED') {
            const rest = await begin(scores, goesOnBy === 'resume' ? { resume: id } : { again: cases, id });
            report = rest.report;
            asked = [...new Set([...asked, ...rest.asked])].toSorted((a, b) => a - b);
          }
          expect(asked).toEqual(chosen);
          now = now.map((each, index) => (chosen.includes(index) ? (scores[index] ?? null) : each));
          replaced += chosen.length;
          const whole = await (await openDesk(first.length, epochs)).begin(now, {});
          expect(comparable(report)).toEqual(comparable(whole.report));
          const source = openStoredRun(store, await requireRun(store, id));
          expect(comparable(source.report)).toEqual(comparable(whole.report));
          expect((await summarize(source)).overall).toEqual(source.report?.overall);
          const reopenings = (await source.reopenings?.()) ?? [];
          expect(reopenings.map((each) => each.number)).toEqual(
            rounds.slice(0, at + 1).map((_, index) => index + 1),
          );
          expect(comparable(reopenings.at(-1)?.report)).toEqual(before);
          const kept = await Array.fromAsync(source.replaced?.() ?? []);
          expect(kept).toHaveLength(replaced);
          expect(kept.every((each) => each.case.epochs.length === epochs)).toBe(true);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test.each<AgainScope>(['failed', 'unscored', 'all'])(
  'a changed program refuses --again %s',
  async (cases) => {
    const suite = loadSpec(
      'cases: [{content: x, params: {}}]\nevals: [{id: e, type: t, params: {score: 1}}]\n',
    );
    const store = await openSqliteResults(memoryFile);
    const keeping = { suite, config, wanted: {}, resume: undefined, total: 1 };
    await keepRun(store, { ...keeping, programs: { 'ev.py': 'a' } }, async (header, journal) => {
      const report = await run(suite, { header, journal });
      return report;
    });
    const [{ id } = { id: '' }] = await store.listRuns();
    const changed = keepRun(
      store,
      { ...keeping, programs: { 'ev.py': 'b' }, again: { run: id, cases } },
      async () => run(suite),
    );
    await expect(changed).rejects.toMatchObject({
      code: 'USAGE',
      message: `cannot resume run ${id}: the program ev.py has changed`,
    });
    expect(await store.listRuns()).toMatchObject([{ status: 'passed' }]);
    expect(await store.reopenings(id)).toEqual([]);
  },
);

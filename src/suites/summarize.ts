import { caseStatsOfAll, evalStatsOfAll } from './matrix/without-intervals.ts';
import type { Failure, RunSource, RunSummary } from './record.ts';
import { failuresOf, roleLookup } from './report/case-failures.ts';
import { newBoundedList } from './run/bounded-list.ts';
import { newTotalsTally } from './run/totals.ts';
import { placeOfFailure } from './run-accumulator.ts';
import { newStatsAccumulator } from './stats/stats-accumulator.ts';
import { newVariantTallies } from './variant-tallies.ts';

/**
 * The report of a run. For a run without one it is computed from the cases so far, without gates, with the
 * status `interrupted` or `running`; a shadow is always `running`.
 */
export async function summarize(source: RunSource): Promise<RunSummary> {
  if (source.report !== undefined) return source.report;
  const { header } = source;
  const statsAccumulator = newStatsAccumulator(header.evals, header.epochs);
  const totals = newTotalsTally();
  const variants = newVariantTallies(header, []);
  const failures = newBoundedList<Failure>(maxListed);
  const roleOf = roleLookup(header);
  let cases = 0;
  for await (const record of source.cases()) {
    cases += 1;
    statsAccumulator.add(record);
    totals.add(record);
    variants?.addCase(record);
    for (const [index, failure] of failuresOf(record, roleOf).entries()) {
      failures.add(placeOfFailure(record, header, index), failure);
    }
  }
  const taken = totals.totals();
  const { run_id, suite, epochs, kind } = header;
  const status = kind === 'shadow' ? 'running' : (source.status ?? 'interrupted');
  const [overall, evals] = [statsAccumulator.overall(), statsAccumulator.stats()];
  const matrix = variants?.report({ gates: [], keepGoing: true });
  return {
    ...{ run_id, ...(kind === undefined ? {} : { kind }), suite, status, cases, epochs, bailed: false },
    overall: matrix === undefined ? overall : caseStatsOfAll(overall),
    evals: matrix === undefined ? evals : evalStatsOfAll(evals),
    ...(matrix && { variants: matrix.variants, comparisons: matrix.comparisons }),
    gates: [],
    ...(taken && { totals: taken }),
    duration_ms: null,
    problems: [],
    problem_count: 0,
    failures: failures.items(),
    failure_count: failures.count(),
  };
}

const maxListed = 20;

import { failuresOf, openRoles } from '../report/outcome.ts';
import { newFirsts } from '../run/bounded-list.ts';
import type { Failure, RunSource, RunSummary } from '../run/record.ts';
import { newReducer } from './reducer.ts';

/**
 * The report of a run; of one that did not come to its end what its cases came to so far, without gates. What a
 * shadow would have decided has no end, and nothing to fail by.
 */
export async function summarize(source: RunSource): Promise<RunSummary> {
  if (source.report !== undefined) return source.report;
  const { header } = source;
  const reducer = newReducer(header.evals, header.epochs);
  const failures = newFirsts<Failure>(shown);
  const roleOf = openRoles(header);
  let cases = 0;
  for await (const record of source.cases()) {
    cases += 1;
    reducer.add(record);
    for (const failure of failuresOf(record, roleOf)) failures.add(failures.count(), failure);
  }
  const { run_id, suite, epochs, kind } = header;
  const status = kind === 'shadow' ? 'running' : (source.status ?? 'interrupted');
  return {
    ...{ run_id, ...(kind === undefined ? {} : { kind }), suite, status, cases, epochs, bailed: false },
    overall: reducer.overall(),
    evals: reducer.stats(),
    gates: [],
    duration_ms: null,
    problems: [],
    problem_count: 0,
    failures: failures.items(),
    failure_count: failures.count(),
  };
}

const shown = 20;

import { newFirsts } from '../firsts.ts';
import type { CaseRecord, Failure, RunHeader, RunSource, SuiteReport } from '../record.ts';
import { newReducer } from './reducer.ts';

/**
 * The report of a run; of one that did not come to its end what its cases came to so far, as an error without gates.
 * What a shadow would have decided has no end, and nothing to fail by.
 */
export async function summarize(source: RunSource): Promise<SuiteReport> {
  if (source.report !== undefined) return source.report;
  const { header } = source;
  const reducer = newReducer(header.evals, header.epochs);
  const failures = newFirsts<Failure>(shown);
  let cases = 0;
  for await (const record of source.cases()) {
    cases += 1;
    reducer.add(record);
    for (const failure of failuresOf(record, header)) failures.add(failures.count(), failure);
  }
  const { run_id, suite, epochs, kind } = header;
  const status = kind === 'shadow' ? 'passed' : 'error';
  return {
    ...{ run_id, suite, status, cases, epochs, bailed: false },
    overall: reducer.overall(),
    evals: reducer.stats(),
    gates: [],
    duration_ms: 0,
    problems: [],
    problem_count: 0,
    failures: failures.items(),
    failure_count: failures.count(),
  };
}

const shown = 20;

function failuresOf({ id, file, line, results }: CaseRecord, { evals }: RunHeader): Failure[] {
  const metrics = new Set(evals.flatMap((each) => (each.role === 'metric' ? [each.id] : [])));
  return results
    .filter((result) => !result.passed && !metrics.has(result.eval))
    .map(({ eval: evalId, score, detail }) => ({ case: id, file, line, eval: evalId, score, detail }));
}

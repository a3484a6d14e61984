import type { Stats, SuiteReport } from '../../../src/suite/model.ts';

export const stats: Stats = { count: 4, scored: 3, unscored: 1, passed: 2, pass_rate: 0.5, mean: 2 / 3 };

/** A report in which nothing went wrong, with other members as given. */
export function reportOf(members: Partial<SuiteReport>): SuiteReport {
  return {
    run_id: '00000000-0000-4000-8000-000000000000',
    suite: 'gsm8k',
    status: 'passed',
    cases: 4,
    evals: { exact: { ...stats, tags: {} } },
    gates: [],
    duration_ms: 2000,
    problems: [],
    problem_count: 0,
    failures: [],
    failure_count: 0,
    ...members,
  };
}

import { section } from '../requirements/requirement.ts';

/** What a suite does with scores. */
export const scores = section('evals.md', [
  ['DS-SCORE-01', 'none', 'An assertion whose score is outside its bounds fails the case.'],
  ['DS-SCORE-02', 'none', 'A guardrail below 1.0 fails where it has no bounds of its own.'],
  ['DS-SCORE-03', 'none', 'A metric is recorded and fails nothing.'],
  ['DS-SCORE-05', 'none', 'unscored is counted and left out of the mean.'],
]);

/** Suites: cases, gates and the document they end in. */
export const suites = section('evals.md', [
  [
    'DS-SUITE-01',
    'none',
    'One row of the dataset, or one of `cases`, is one request, its members filled by expressions.',
  ],
  ['DS-SUITE-02', 'none', 'An expression alone keeps its type; inside text it is interpolated.'],
  [
    'DS-SUITE-03',
    'none',
    'A gate passes when its metric lies within min and max, inclusive, for its tag if it names one.',
  ],
  ['DS-SUITE-04', 'none', 'Without gates a suite fails when any assertion or guardrail failed.'],
  [
    'DS-SUITE-05',
    'none',
    'eval run --json prints run_id, suite, status, cases, evals with tags, gates and duration_ms.',
  ],
  [
    'DS-SUITE-06',
    'none',
    'A row that cannot be used is told with file and line, counted, and makes the status error.',
  ],
  ['DS-SUITE-07', 'none', 'eval run exits 0 when the suite passed and 1 when it failed.'],
]);

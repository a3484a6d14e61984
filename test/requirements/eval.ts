import { section } from './requirement.ts';

/** What an eval reads, and what its reply means. */
export const evals = section('promptkit.md §7', [
  [
    'PK-7-01',
    'both',
    'The request has type, params, content and context {messages turn_index tool_calls variables metadata}.',
  ],
  ['PK-7-02', 'both', 'Those members are always there, empty when empty.'],
  ['PK-7-03', 'both', '`session_id` and `prompt_id` are there when known only.'],
  ['PK-7-04', 'both', 'Tool calls of the context: name args result error index.'],
  ['PK-7-05', 'both', 'A score from 0 to 1, both included, is scored.'],
  ['PK-7-06', 'both', 'A score missing, null, string, boolean, below 0, above 1 or 1e400 is unscored.'],
  ['PK-7-07', 'both', '`detail` and `data` are carried along; null counts as absent.'],
  ['PK-7-08', 'both', '`detail` or `data` of another type is unscored.'],
  ['PK-7-09', 'both', 'A non-empty string `error` is unscored with that reason, even beside a score.'],
]);

/** Every way in which an eval's process can fail leaves it unscored, with the cause as reason. */
export const evalFaults = section('promptkit.md §7', [
  ['PK-7-10', 'oneshot', 'An eval that exits non-zero is unscored, even with a score printed.'],
  ['PK-7-11', 'oneshot', 'An eval that a signal ends is unscored.'],
  ['PK-7-12', 'both', 'An eval that times out is unscored.'],
  ['PK-7-13', 'both', 'An eval over its output limit is unscored.'],
  ['PK-7-14', 'both', 'An eval that cannot start is unscored.'],
  ['PK-7-15', 'server', 'An eval that answers with a JSON-RPC error is unscored.'],
  ['PK-7-16', 'server', 'An eval whose server dies, or whose circuit is open, is unscored.'],
]);

/** Thresholds. */
export const thresholds = section('promptkit.md §7', [
  ['PK-7-17', 'none', 'Bounds are finite numbers from 0 to 1 with min ≤ max; anything else is refused.'],
  ['PK-7-18', 'none', 'Bounds are inclusive and compared exactly.'],
  ['PK-7-19', 'none', 'With neither bound the minimum is 1.0.'],
  ['PK-7-20', 'none', 'A maximum alone implies no minimum.'],
  ['PK-7-21', 'none', 'unscored passes no threshold, a max_score alone included.'],
]);

/** Evals that are built in. */
export const builtIns = section('promptkit.md, section 10', [
  [
    'PK-10-01',
    'none',
    'The text, JSON, tool-call, budget and judge families are built in, with their aliases.',
  ],
  ['PK-10-02', 'none', 'An exec entry that is named like a built-in replaces it.'],
  ['PK-10-03', 'none', 'An unknown param or a missing required one is a config error.'],
  ['PK-10-04', 'none', 'Lengths count Unicode code points.'],
  ['PK-10-05', 'none', 'sentence_count applies its max.'],
  ['PK-10-06', 'none', 'A judge whose answer cannot be read is unscored.'],
  ['PK-10-07', 'none', 'cost_budget scores min(1, max/cost) for each limit and takes the lowest.'],
  ['PK-10-08', 'none', 'A pattern that JavaScript cannot compile is a config error.'],
  ['PK-10-09', 'none', 'An eval that lacks its input is unscored, never 0 or 1.'],
]);

/** What a suite does with scores. */
export const scores = section('design.md, Scores', [
  ['DS-SCORE-01', 'none', 'An assertion whose score is outside its bounds fails the case.'],
  ['DS-SCORE-02', 'none', 'A guardrail below 1.0 fails where it has no bounds of its own.'],
  ['DS-SCORE-03', 'none', 'A metric is recorded and fails nothing.'],
  ['DS-SCORE-04', 'none', 'unscored fails assertions and guardrails.'],
  ['DS-SCORE-05', 'none', 'unscored is counted and left out of the mean.'],
]);

/** Suites: cases, gates and the document they end in. */
export const suites = section('design.md, Files', [
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

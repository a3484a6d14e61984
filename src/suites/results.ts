// Loaded lazily by `loadResults()`: reporters, comparisons and run files.

export { escapeInvisibleLine as oneLine } from '../base/text/escape-invisible.ts';
export { cut } from '../base/text/width.ts';
export { compareRuns } from './compare/compare.ts';
export { findRegressions } from './compare/regressions.ts';
export { renderComparison, renderComparisonHtml, renderComparisonMarkdown } from './compare/render.ts';
export { measureRatings } from './rating/measure-ratings.ts';
export { requireVariant } from './rating/rated-variant.ts';
export { failuresOf, roleLookup } from './report/case-failures.ts';
export { openDelivery, openSeveralDelivery, readReporter } from './report/delivery.ts';
export { writeReport } from './report/file-sink.ts';
export { toReportDocument } from './report/json.ts';
export { replayReport } from './report/replay-report.ts';
export { describeSeveral, type SuiteOutcome, toSeveralReport } from './report/reporter.ts';
export { openRunFile } from './report/run-file.ts';
export { renderAgreement } from './report/terminal/agreement.ts';
export { openProgress } from './report/terminal/progress.ts';
export { explainVerdict, renderTable } from './report/terminal/table.ts';
export {
  describeBounds,
  describeFailure,
  describeScore,
  explainGate,
  formatBeside,
  nameCase,
  nameGate,
} from './report/wording.ts';
export { summarize } from './run-accumulator.ts';
export { resultsOf } from './stats/epoch-reduction.ts';

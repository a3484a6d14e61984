// All that is done with what runs came to; read from disk only by those who do it.
export { compareRuns } from '../compare/compare.ts';
export { renderComparisonMarkdown } from '../compare/markdown.ts';
export { findRegressions } from '../compare/regressed.ts';
export { renderComparison } from '../compare/render.ts';
export { openDelivery } from '../report/deliver.ts';
export { toReportDocument } from '../report/json.ts';
export { openRunFile } from '../report/jsonl/read.ts';
export { askedOf, failuresOf, openRoles } from '../report/outcome.ts';
export { readReporter } from '../report/registry.ts';
export { openProgress } from '../report/terminal/progress.ts';
export { renderTable } from '../report/terminal/table.ts';
export { cut, oneLine } from '../report/terminal/text-width.ts';
export { explainVerdict } from '../report/verdict.ts';
export {
  describeBounds,
  describeFailure,
  describeScore,
  explainGate,
  nameGate,
  toHonest,
} from '../report/wording.ts';
export { retell } from '../stats/replay-report.ts';
export { summarize } from '../stats/summarize.ts';

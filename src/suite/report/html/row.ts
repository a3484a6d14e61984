import type { CaseRecord, CaseResult, EpochRecord, RunHeader } from '../../run/record.ts';

/** What the list of the page knows of one case: a tuple, since there may be many thousands. */
export type Row = readonly [
  number: number,
  id: string,
  tags: readonly string[],
  score: number | null,
  passed: boolean,
  /** Whether some epochs passed as wholes and others did not. */
  flaky: boolean,
  results: readonly RowResult[],
  /** How the judged text begins. */
  text: string,
  /** Why the case did not pass; empty when it did. */
  why: string,
];

/** What one eval said, `evalIndex` being its place in the header. */
export type RowResult = readonly [evalIndex: number, score: number | null, passed: boolean, flaky: boolean];

/** The row of a case, its long texts cut. */
export function toRow(record: CaseRecord, { evals }: RunHeader): Row {
  const places = new Map(evals.map(({ id }, index) => [id, index]));
  const isJudge = (id: string): boolean => evals[places.get(id) ?? -1]?.role !== 'metric';
  return [
    record.number,
    cutText(record.id, 200),
    record.tags.slice(0, 50).map((tag) => cutText(tag, 200)),
    record.score,
    record.passed,
    areMixed(record.epochs.map((epoch) => hasPassed(epoch, isJudge))),
    record.results.map((result) => toRowResult(result, places, record.epochs.length)),
    cutText(record.epochs[0]?.content ?? '', 160),
    record.passed ? '' : cutText(whyFailed(record, isJudge), 160),
  ];
}

function toRowResult(result: CaseResult, places: ReadonlyMap<string, number>, epochs: number): RowResult {
  const isFlaky = result.passed_epochs > 0 && result.passed_epochs < epochs;
  return [places.get(result.eval) ?? -1, result.score, result.passed, isFlaky];
}

function hasPassed({ results }: EpochRecord, isJudge: (id: string) => boolean): boolean {
  return results.every((result) => result.passed || !isJudge(result.eval));
}

function areMixed(passes: readonly boolean[]): boolean {
  return passes.includes(true) && passes.includes(false);
}

function whyFailed({ results }: CaseRecord, isJudge: (id: string) => boolean): string {
  const failed = results.find((result) => !result.passed && isJudge(result.eval));
  if (failed === undefined) return '';
  const reason = failed.detail.slice(0, 1000);
  return reason === '' ? `${failed.eval} did not pass` : `${failed.eval}: ${reason}`;
}

/** The beginning of the text on one line, at most `length` code points. */
function cutText(text: string, length: number): string {
  const line = text
    .slice(0, length * 8)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const points = Array.from(line);
  const isWhole = points.length <= length && text.length <= length * 8;
  return isWhole ? line : `${points.slice(0, length).join('')}…`;
}

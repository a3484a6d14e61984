import type { CaseRecord, CaseResult, EpochRecord, RunHeader } from '../../record.ts';

/** A case in the list of the page: a tuple, to be small, since there may be many thousands. */
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
  /** Only of a matrix: the position of its variant in the header. */
  variant?: number,
];

/** The result of one eval; `evalIndex` is its position in the header. */
type RowResult = readonly [evalIndex: number, score: number | null, passed: boolean, flaky: boolean];

/** The row of a case, its long texts cut. */
export function toRow(record: CaseRecord, { evals, variants = [] }: RunHeader): Row {
  const evalIndexes = new Map(evals.map(({ id }, index) => [id, index]));
  const isDeciding = (id: string): boolean => evals[evalIndexes.get(id) ?? -1]?.role !== 'metric';
  const row = [
    record.number,
    cutText(record.id, 200),
    record.tags.slice(0, 50).map((tag) => cutText(tag, 200)),
    record.score,
    record.passed,
    hasBoth(record.epochs.map((epoch) => hasPassed(epoch, isDeciding))),
    record.results.map((result) => toRowResult(result, evalIndexes, record.epochs.length)),
    cutText(record.epochs[0]?.content ?? '', 160),
    record.passed ? '' : cutText(whyFailed(record, isDeciding), 160),
  ] as const;
  if (variants.length === 0) return row;
  return [...row, variants.findIndex(({ name }) => name === record.variant)];
}

function toRowResult(
  result: CaseResult,
  evalIndexes: ReadonlyMap<string, number>,
  epochs: number,
): RowResult {
  const isFlaky = result.passed_epochs > 0 && result.passed_epochs < epochs;
  return [evalIndexes.get(result.eval) ?? -1, result.score, result.passed, isFlaky];
}

function hasPassed({ results }: EpochRecord, isDeciding: (id: string) => boolean): boolean {
  return results.every((result) => result.passed || !isDeciding(result.eval));
}

function hasBoth(passes: readonly boolean[]): boolean {
  return passes.includes(true) && passes.includes(false);
}

function whyFailed({ results }: CaseRecord, isDeciding: (id: string) => boolean): string {
  const failed = results.find((result) => !result.passed && isDeciding(result.eval));
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

/** What the page of a run has beside the run where it is served, rather than a file. */
export interface Served {
  /** Where the list of runs is. */
  readonly home: string;
  /** Where the details of a case are asked for that the page leaves out: with `id`, `number` and `variant`. */
  readonly cases: string;
  /** Where ratings are sent; null where the run takes none. */
  readonly ratings: string | null;
  /** Goes with each request, in `Authorization`. */
  readonly token: string;
  /** The name of who rates, until another is given. */
  readonly by: string;
}

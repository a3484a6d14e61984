import type { CaseRecord, CaseResult, EpochRecord, RunHeader } from '../../record.ts';

/** A tuple instead of an object, because a page may have many thousands. */
export type Row = readonly [
  number: number,
  id: string,
  tags: readonly string[],
  score: number | null,
  passed: boolean,
  flaky: boolean,
  results: readonly RowResult[],
  text: string,
  why: string,
  /** The index of its variant in the header; only in a matrix. */
  variant?: number,
];

type RowResult = readonly [evalIndex: number, score: number | null, passed: boolean, flaky: boolean];

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

function cutText(text: string, length: number): string {
  const line = text
    .slice(0, length * 8)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const points = Array.from(line);
  const isWhole = points.length <= length && text.length <= length * 8;
  return isWhole ? line : `${points.slice(0, length).join('')}…`;
}

/** What the server of a page says about who reads it. */
export interface Served {
  /** The name under which the reader rates; null: the reader cannot rate cases of this run. */
  readonly by: string | null;
  /** The run has not ended: its report is that of the cases so far. */
  readonly isRunning?: boolean;
}

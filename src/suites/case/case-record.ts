import { type Cut, cutValue } from '../../base/json/cut-value.ts';
import { toDouble } from '../../base/json/decimal.ts';
import { isScoreWithin } from '../../calls/capability/eval.ts';
import type { Row } from '../dataset/row.ts';
import type { SuiteEval } from '../file/model.ts';
import type { CaseRecord, EpochRecord } from '../record.ts';
import { reduceEpochs, resultsOf, weightedMean } from '../stats/epoch-reduction.ts';

export interface JudgedCase {
  readonly row: Pick<Row, 'number' | 'file' | 'line'>;
  readonly id: string;
  readonly variant?: string | undefined;
  readonly tags: readonly string[];
  readonly epochs: readonly EpochRecord[];
  readonly kept?: KeptRow | undefined;
}

export type EvalWeighting = Pick<SuiteEval, 'id' | 'role' | 'weight' | 'reducer'>;

/** Reduces the epochs of a case, weights the scores and compares the result with the threshold. */
export function toCaseRecord(
  evals: readonly EvalWeighting[],
  { row: { number, file, line }, id, variant, tags, epochs, kept }: JudgedCase,
): CaseRecord {
  const judged = evals.flatMap(({ id: name, role, weight, reducer }) => {
    const results = resultsOf({ epochs }, name);
    if (results.length === 0) return [];
    const result = { eval: name, ...reduceEpochs(reducer, results) };
    return [{ role, weight, score: result.score, result }];
  });
  const deciding = judged.filter(({ role }) => role !== 'metric');
  const score = weightedMean(deciding);
  // An epoch whose subject failed has no threshold.
  const threshold = epochs.find((epoch) => epoch.threshold !== undefined)?.threshold;
  const meetsBounds =
    threshold === undefined
      ? deciding.every(({ result }) => result.passed)
      : score !== null && isScoreWithin(score, threshold);
  return {
    number,
    file,
    line,
    id,
    ...(variant === undefined ? {} : { variant }),
    tags,
    ...kept,
    epochs,
    results: judged.map(({ result }) => result),
    score: score === null ? null : toDouble(score),
    passed: isAnswered(epochs) && meetsBounds,
  };
}

function isAnswered(epochs: readonly EpochRecord[]): boolean {
  return epochs.some(({ subject }) => subject?.status !== 'failed');
}

export type KeptRow = Pick<CaseRecord, 'row' | 'row_cuts'>;

/**
 * Returns the row as reports and stores keep it. Long texts of a very large row are cut; the judged content is stored
 * in full elsewhere.
 */
export function keepRow(row: Readonly<Record<string, unknown>>): KeptRow {
  if (!isLarge(row)) return { row };
  const { value, cuts } = cutValue(row, { characters: LONGEST_TEXT, items: Number.POSITIVE_INFINITY });
  return cuts.length === 0 ? { row } : { row: value, row_cuts: cuts satisfies readonly Cut[] };
}

/** Characters in the texts of a row. A record, which also has the judged text, must fit in one string. */
const LARGEST_ROW = 16 * 1024 * 1024;
const LONGEST_TEXT = 1024 * 1024;

function isLarge(row: Readonly<Record<string, unknown>>): boolean {
  let size = 0;
  // Iterative, because a row may be deeply nested.
  const left: unknown[] = [row];
  while (left.length > 0 && size <= LARGEST_ROW) {
    const value = left.pop();
    if (typeof value === 'string') size += value.length;
    else if (typeof value === 'object' && value !== null && !JSON.isRawJSON(value)) {
      for (const member of Object.values(value)) left.push(member);
    }
  }
  return size > LARGEST_ROW;
}

import { toDouble } from '../../base/json/decimal.ts';
import { isScoreWithin } from '../../calls/capability/eval.ts';
import type { Row } from '../dataset/row.ts';
import type { SuiteEval } from '../file/model.ts';
import type { CaseRecord, EpochRecord } from '../record.ts';
import { reduceEpochs, resultsOf, weightedMean } from '../stats/epoch-reduction.ts';
import type { KeptRow } from './kept-row.ts';

export interface JudgedCase {
  readonly row: Pick<Row, 'number' | 'file' | 'line'>;
  readonly id: string;
  /** Of a matrix. */
  readonly variant?: string | undefined;
  readonly tags: readonly string[];
  readonly epochs: readonly EpochRecord[];
  /** The row as it is reported and kept; undefined where it is not known. */
  readonly kept?: KeptRow | undefined;
}

/** The settings of an eval that decide how its results count in a case. */
export type EvalWeighting = Pick<SuiteEval, 'id' | 'role' | 'weight' | 'reducer'>;

/** Builds the record of a case: reduces its epochs, weighs the scores, compares them with the threshold. */
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
  // An epoch whose subject gave no answer has no threshold.
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

/** Whether the subject answered in at least one epoch; a case without any answer has not passed. */
function isAnswered(epochs: readonly EpochRecord[]): boolean {
  return epochs.some(({ subject }) => subject?.status !== 'failed');
}

import { meetsThreshold } from '../../capability/threshold.ts';
import { scored } from '../../contract/eval.ts';
import type { Row } from '../dataset/rows.ts';
import type { SuiteEval } from '../file/model.ts';
import type { CaseRecord, EpochRecord } from '../run/record.ts';
import { reduceEpochs } from '../stats/epochs.ts';
import { weightedMean } from '../stats/whole.ts';

export interface JudgedCase {
  readonly row: Pick<Row, 'number' | 'file' | 'line'>;
  readonly id: string;
  readonly tags: readonly string[];
  readonly epochs: readonly EpochRecord[];
}

/** How the results of an eval count in a case. */
export type Weighing = Pick<SuiteEval, 'id' | 'role' | 'weight' | 'reducer'>;

/** The whole of a case: its epochs reduced, weighed and compared with its threshold. */
export function toCaseRecord(
  evals: readonly Weighing[],
  { row: { number, file, line }, id, tags, epochs }: JudgedCase,
): CaseRecord {
  const judged = evals.flatMap(({ id: name, role, weight, reducer }) => {
    const results = epochs.flatMap((epoch) => epoch.results.filter((each) => each.eval === name));
    if (results.length === 0) return [];
    const result = { eval: name, ...reduceEpochs(reducer, results) };
    return [{ role, weight, score: result.score, result }];
  });
  const deciding = judged.filter(({ role }) => role !== 'metric');
  const score = weightedMean(deciding);
  // An epoch without an answer has none.
  const threshold = epochs.find((epoch) => epoch.threshold !== undefined)?.threshold;
  const isGood =
    threshold === undefined
      ? deciding.every(({ result }) => result.passed)
      : score !== null && meetsThreshold(scored(score, ''), threshold);
  return {
    number,
    file,
    line,
    id,
    tags,
    epochs,
    results: judged.map(({ result }) => result),
    score,
    passed: isAnswered(epochs) && isGood,
  };
}

/** A subject that never answered has not passed, also where only metrics were to judge it. */
function isAnswered(epochs: readonly EpochRecord[]): boolean {
  return epochs.some(({ subject }) => subject?.status !== 'failed');
}

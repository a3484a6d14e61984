import type { CaseRecord, EvalResult, GuardRecord, RunHeader, RunSource } from '../run/record.ts';
import type { GuardSample } from '../stats/classification.ts';
import { resultsOf } from '../stats/epoch-reduction.ts';
import { isFlaky } from '../stats/epoch-table.ts';
import { isEpochPassed } from '../stats/weighted-score.ts';

/** One of the two things that are compared: a run, or the part of it with that tag. */
export interface Side {
  readonly source: RunSource;
  readonly tag: string | undefined;
}

/** What is held of one eval of one case until the other side has been read. */
export interface SideOutcome {
  readonly score: number | null;
  readonly passed: boolean;
  readonly isFlaky: boolean;
  /** Of guards, one for each epoch. */
  readonly decisions: readonly GuardSample[];
  /** The verdict of the guard in each epoch; `failed` when a hook failed. */
  readonly answers: readonly {
    readonly verdict: GuardRecord['verdict'] | 'failed';
    readonly durationMs: number;
  }[];
}

/** Which result of a case is meant: the id of an eval, or undefined for the case as a whole. */
export type ResultKey = string | undefined;

/** The cases of a side, in the order of the dataset. */
export async function* casesOf({ source, tag }: Side): AsyncGenerator<CaseRecord> {
  for await (const record of source.cases()) {
    if (tag === undefined || record.tags.includes(tag)) yield record;
  }
}

/** Makes a function that reads the outcome of a case; undefined where the eval did not judge it. */
export function outcomeReader({
  evals,
}: Pick<RunHeader, 'evals'>): (record: CaseRecord, key: ResultKey) => SideOutcome | undefined {
  const headers = new Map(evals.map((header) => [header.id, header]));
  return (record, key) => {
    if (key !== undefined) return evalOutcome(record, key, headers.get(key)?.type === 'guard');
    const { epochs, score, passed } = record;
    const passedEpochs = epochs.filter((epoch) => isEpochPassed(epoch, headers)).length;
    return { score, passed, isFlaky: isFlaky(epochs.length, passedEpochs), decisions: [], answers: [] };
  };
}

function evalOutcome(record: CaseRecord, id: string, isGuard: boolean): SideOutcome | undefined {
  const result = record.results.find((each) => each.eval === id);
  if (result === undefined) return undefined;
  const results = resultsOf(record, id);
  return {
    score: result.score,
    passed: result.passed,
    isFlaky: isFlaky(results.length, result.passed_epochs),
    decisions: results.flatMap(({ guard }) => (guard === undefined ? [] : [toGuardSample(guard)])),
    answers: isGuard ? results.map(toAnswer) : [],
  };
}

function toAnswer({ guard, error, duration_ms }: EvalResult): SideOutcome['answers'][number] {
  const hooksMs = guard?.hooks.reduce((sum, hook) => sum + hook.duration_ms, 0) ?? duration_ms;
  // Finer than whole milliseconds, unless hooks were asked at once and the sum is more than the time that they took.
  const durationMs = Math.min(hooksMs, duration_ms + 0.5);
  return { verdict: error === undefined && guard !== undefined ? guard.verdict : 'failed', durationMs };
}

/** Without the hooks, whose durations are not compared. */
function toGuardSample({ expected, flagged, confidence }: GuardSample): GuardSample {
  return { expected, flagged, confidence, hooks: [] };
}

import type { CaseRecord, EvalResult, GuardRecord, RunSource } from '../run/record.ts';
import type { Decided } from '../stats/classification.ts';
import { isFlaky } from '../stats/epoch-table.ts';
import { resultsOf } from '../stats/reducer.ts';
import { passesWhole } from '../stats/whole.ts';

/** One of the two things that are compared: a run, or the part of it with that tag. */
export interface Side {
  readonly source: RunSource;
  readonly tag: string | undefined;
}

/** What is kept of one eval of one case until its other side has been read. */
export interface Outcome {
  readonly score: number | null;
  readonly passed: boolean;
  readonly isFlaky: boolean;
  /** Of guards, one for each epoch. */
  readonly decisions: readonly Decided[];
  /** What the guard answered each time; it is no answer when it failed. */
  readonly answers: readonly {
    readonly verdict: GuardRecord['verdict'] | 'failed';
    readonly durationMs: number;
  }[];
}

/** Where a result is shown: the eval's id, or undefined for the case as a whole. */
export type Subject = string | undefined;

/** The cases of a side, in the order of the dataset. */
export async function* casesOf({ source, tag }: Side): AsyncGenerator<CaseRecord> {
  for await (const record of source.cases()) {
    if (tag === undefined || record.tags.includes(tag)) yield record;
  }
}

/** Gives what a case came to under an eval; undefined where that did not judge it. */
export function outcomeReader({
  source,
}: Side): (record: CaseRecord, subject: Subject) => Outcome | undefined {
  const headers = new Map(source.header.evals.map((header) => [header.id, header]));
  return (record, subject) => {
    if (subject !== undefined) return evalOutcome(record, subject, headers.get(subject)?.type === 'guard');
    const { epochs, score, passed } = record;
    const passedEpochs = epochs.filter((epoch) => passesWhole(epoch, headers)).length;
    return { score, passed, isFlaky: isFlaky(epochs.length, passedEpochs), decisions: [], answers: [] };
  };
}

function evalOutcome(record: CaseRecord, id: string, isGuard: boolean): Outcome | undefined {
  const result = record.results.find((each) => each.eval === id);
  if (result === undefined) return undefined;
  const asked = resultsOf(record, id);
  return {
    score: result.score,
    passed: result.passed,
    isFlaky: isFlaky(asked.length, result.passed_epochs),
    decisions: asked.flatMap(({ guard }) => (guard === undefined ? [] : [toDecided(guard)])),
    answers: isGuard ? asked.map(toAnswer) : [],
  };
}

function toAnswer({ guard, error, duration_ms }: EvalResult): Outcome['answers'][number] {
  const durationMs = guard?.hooks.reduce((sum, hook) => sum + hook.duration_ms, 0) ?? duration_ms;
  return { verdict: error === undefined && guard !== undefined ? guard.verdict : 'failed', durationMs };
}

/** How long hooks took is not compared. */
function toDecided({ expected, flagged, confidence }: Decided): Decided {
  return { expected, flagged, confidence, hooks: [] };
}

/** What a listing shows of a case. */
export function detailOf(record: CaseRecord, subject: Subject): string {
  if (subject !== undefined) return record.results.find((each) => each.eval === subject)?.detail ?? '';
  const failed = record.results.filter(({ passed }) => !passed);
  return failed.map((result) => `${result.eval}: ${result.detail}`).join('; ');
}

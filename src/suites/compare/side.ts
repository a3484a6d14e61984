import type { CaseRecord, GuardRecord, RunHeader, RunSource } from '../record.ts';
import type { GuardSample } from '../stats/classification.ts';
import { isEpochPassed, isFlaky, resultsOf } from '../stats/epoch-reduction.ts';

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
    if (key === undefined) {
      const { epochs, score, passed } = record;
      const passedEpochs = epochs.filter((epoch) => isEpochPassed(epoch, headers)).length;
      return { score, passed, isFlaky: isFlaky(epochs.length, passedEpochs), decisions: [], answers: [] };
    }
    const result = record.results.find((each) => each.eval === key);
    if (result === undefined) return undefined;
    const { score, passed, passed_epochs: passedEpochs } = result;
    const results = resultsOf(record, key);
    // Without the hooks, whose durations are not compared.
    const decisions = results.flatMap(({ guard }) => (guard === undefined ? [] : [{ ...guard, hooks: [] }]));
    const answers = results.map(({ guard, error, duration_ms: ms }) => {
      const hooksMs = guard?.hooks.reduce((sum, hook) => sum + hook.duration_ms, 0) ?? ms;
      return {
        verdict: error === undefined && guard !== undefined ? guard.verdict : ('failed' as const),
        // Finer than whole milliseconds, unless hooks were asked at once and the sum is more than the time that they took.
        durationMs: Math.min(hooksMs, ms + 0.5),
      };
    });
    const isGuard = headers.get(key)?.type === 'guard';
    return {
      ...{ score, passed, isFlaky: isFlaky(results.length, passedEpochs), decisions },
      answers: isGuard ? answers : [],
    };
  };
}

/** What is compared: the same eval on both sides, two evals, or (both undefined) whole cases. */
export interface ComparisonRow {
  readonly a: ResultKey;
  readonly b: ResultKey;
}

/** The outcomes of a case on one side, by row; undefined where an eval did not judge it. */
interface PairSide {
  /** The number of the case in its run. */
  readonly number: number;
  readonly outcomes: readonly (SideOutcome | undefined)[];
}

/**
 * Pairs the cases of both sides by id, the first of an id with the first, and calls `onPair` for each in
 * the order of B, then for the cases that only A has. Both are read at once: held in memory, with a few numbers
 * each, are only cases of A that come before the one that B is at, so none where both have the same order.
 */
export async function pairCases(
  a: Side,
  b: Side,
  rows: readonly ComparisonRow[],
  onPair: (
    halves: { readonly a: PairSide | undefined; readonly b: PairSide | undefined },
    b?: CaseRecord,
  ) => void,
): Promise<void> {
  const [readA, readB] = [outcomeReader(a.source.header), outcomeReader(b.source.header)];
  const toSideOfA = (record: CaseRecord): PairSide => {
    return { number: record.number, outcomes: rows.map((row) => readA(record, row.a)) };
  };
  /** Cases of A that B has not come to yet, by id. */
  const waiting = new Map<string, PairSide[]>();
  const ofA = casesOf(a);
  const findInA = async (id: string): Promise<PairSide | undefined> => {
    const queue = waiting.get(id);
    const known = queue?.shift();
    if (queue?.length === 0) waiting.delete(id);
    if (known !== undefined) return known;
    for (;;) {
      const { done, value: record } = await ofA.next();
      if (done) return undefined;
      const side = toSideOfA(record);
      if (record.id === id) return side;
      const others = waiting.get(record.id);
      if (others === undefined) waiting.set(record.id, [side]);
      else others.push(side);
    }
  };
  try {
    for await (const record of casesOf(b)) {
      const side = { number: record.number, outcomes: rows.map((row) => readB(record, row.b)) };
      onPair({ a: await findInA(record.id), b: side }, record);
    }
    for (const side of [...waiting.values()].flat()) onPair({ a: side, b: undefined });
    for await (const record of ofA) onPair({ a: toSideOfA(record), b: undefined });
  } finally {
    await ofA.return(undefined);
  }
}

import type { CaseRecord, GuardRecord, RunHeader, RunSource } from '../record.ts';
import type { GuardSample } from '../stats/classification.ts';
import { isEpochPassed, isFlaky, resultsOf } from '../stats/epoch-reduction.ts';

/** One side of a comparison: a run, or the cases of it that have `tag`. */
export interface Side {
  readonly source: RunSource;
  readonly tag: string | undefined;
}

export interface SideOutcome {
  readonly score: number | null;
  readonly passed: boolean;
  readonly isFlaky: boolean;
  readonly decisions: readonly GuardSample[];
  readonly answers: readonly {
    readonly verdict: GuardRecord['verdict'] | 'failed';
    readonly durationMs: number;
  }[];
}

export type ResultKey = string | undefined;

export async function* casesOf({ source, tag }: Side): AsyncGenerator<CaseRecord> {
  for await (const record of source.cases()) {
    if (tag === undefined || record.tags.includes(tag)) yield record;
  }
}

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
    const decisions = results.flatMap(({ guard }) => (guard === undefined ? [] : [{ ...guard, hooks: [] }]));
    const answers = results.map(({ guard, error, duration_ms: ms }) => {
      const hooksMs = guard?.hooks.reduce((sum, hook) => sum + hook.duration_ms, 0) ?? ms;
      return {
        verdict: error === undefined && guard !== undefined ? guard.verdict : ('failed' as const),
        // Finer than whole milliseconds. Parallel hooks can sum to more than the elapsed time.
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

/** The same eval on both sides, two different evals, or (both undefined) whole cases. */
export interface ComparisonRow {
  readonly a: ResultKey;
  readonly b: ResultKey;
}

interface PairSide {
  readonly number: number;
  readonly outcomes: readonly (SideOutcome | undefined)[];
}

/**
 * Pairs the cases of both sides by id; repeated ids are paired in order. Calls `onPair` in the order of B, then for the
 * cases that only A has. Both sides are read in parallel. Only cases of A that B has not reached are held in memory, so
 * none if both have the same order.
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

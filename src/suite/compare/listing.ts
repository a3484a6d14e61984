import type { CaseRecord } from '../run/record.ts';
import type { Change, Seen } from './comparison.ts';
import type { Row } from './pair-up.ts';
import type { Turn } from './row-tally.ts';
import { casesOf, type Side, type Subject } from './side.ts';

/** The first changes under one row; what they were on side A is looked up when all are known. */
export interface Listing {
  /** `numberInA` is that of the case in its run. */
  add(turn: Turn, numberInA: number, record: CaseRecord): void;
  readonly regressions: readonly Listed[];
  readonly improvements: readonly Listed[];
}

export interface Listed {
  readonly numberInA: number;
  readonly case: string;
  readonly b: Seen;
}

const shown = 50;

export function newListing({ b: subject }: Row): Listing {
  const kept: Record<Exclude<Turn, 'none'>, Listed[]> = { regression: [], improvement: [] };
  return {
    regressions: kept.regression,
    improvements: kept.improvement,
    add(turn, numberInA, record) {
      if (turn === 'none' || kept[turn].length >= shown) return;
      kept[turn].push({ numberInA, case: record.id, b: toSeen(record, subject) });
    },
  };
}

/** Reads side A once more, as far as it is needed. */
export async function lookUp(side: Side, listings: readonly Listing[]): Promise<Map<number, CaseRecord>> {
  const wanted = new Set(
    listings.flatMap(({ regressions, improvements }) =>
      [...regressions, ...improvements].map(({ numberInA }) => numberInA),
    ),
  );
  const found = new Map<number, CaseRecord>();
  if (wanted.size === 0) return found;
  for await (const record of casesOf(side)) {
    if (wanted.delete(record.number)) found.set(record.number, record);
    if (wanted.size === 0) break;
  }
  return found;
}

/** The listed cases with both their sides. */
export function toChanges(
  listed: readonly Listed[],
  records: ReadonlyMap<number, CaseRecord>,
  subject: Subject,
): Change[] {
  return listed.flatMap(({ numberInA, case: id, b }) => {
    const record = records.get(numberInA);
    return record === undefined ? [] : [{ case: id, a: toSeen(record, subject), b }];
  });
}

function toSeen(record: CaseRecord, subject: Subject): Seen {
  const { file, line } = record;
  if (subject === undefined) return { file, line, score: record.score, detail: failuresOf(record) };
  const result = record.results.find((each) => each.eval === subject);
  return { file, line, score: result?.score ?? null, detail: result?.detail ?? '' };
}

/** Why a case as a whole failed: what its evals said. */
function failuresOf({ results }: CaseRecord): string {
  const failed = results.filter(({ passed }) => !passed);
  return failed.map((result) => `${result.eval}: ${result.detail}`).join('; ');
}

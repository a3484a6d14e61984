import type { CaseRecord } from '../run/record.ts';
import type { ComparisonRow } from './case-pairs.ts';
import type { Change, SideResult } from './comparison.ts';
import type { VerdictChange } from './pair-tally.ts';
import { casesOf, type ResultKey, type Side } from './side.ts';

/** The first changes of one row; their results on side A are read when all are known. */
export interface ChangeList {
  /** `numberInA` is that of the case in its run. */
  add(turn: VerdictChange, numberInA: number, record: CaseRecord): void;
  readonly regressions: readonly ListedChange[];
  readonly improvements: readonly ListedChange[];
}

export interface ListedChange {
  readonly numberInA: number;
  readonly case: string;
  readonly b: SideResult;
}

const maxListed = 50;

export function newChangeList({ b: key }: ComparisonRow): ChangeList {
  const kept: Record<Exclude<VerdictChange, 'none'>, ListedChange[]> = { regression: [], improvement: [] };
  return {
    regressions: kept.regression,
    improvements: kept.improvement,
    add(change, numberInA, record) {
      if (change === 'none' || kept[change].length >= maxListed) return;
      kept[change].push({ numberInA, case: record.id, b: toSideResult(record, key) });
    },
  };
}

/** Reads the listed cases of side A, by their numbers. */
export async function readListedCases(
  side: Side,
  listings: readonly ChangeList[],
): Promise<Map<number, CaseRecord>> {
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
  listed: readonly ListedChange[],
  records: ReadonlyMap<number, CaseRecord>,
  key: ResultKey,
): Change[] {
  return listed.flatMap(({ numberInA, case: id, b }) => {
    const record = records.get(numberInA);
    if (record === undefined) return [];
    const question = questionOf(record);
    return [{ case: id, ...(question !== undefined && { question }), a: toSideResult(record, key), b }];
  });
}

/** What a case asks: of a chat the last message of the user, of a recorded answer the field of its row that has such a name. */
function questionOf({ epochs: [first], row = {} }: CaseRecord): string | undefined {
  const asked = first?.messages.findLast(({ role }) => role === 'user')?.content;
  const field = ['question', 'input', 'prompt', 'query'].map((name) => row[name]);
  const question = asked ?? field.find((value): value is string => typeof value === 'string');
  return question === undefined || question === '' ? undefined : question.slice(0, LONGEST_QUESTION);
}

const LONGEST_QUESTION = 1_000;

function toSideResult(record: CaseRecord, key: ResultKey): SideResult {
  const { number, file, line } = record;
  if (key === undefined) return { number, file, line, score: record.score, detail: failureDetailOf(record) };
  const result = record.results.find((each) => each.eval === key);
  return { number, file, line, score: result?.score ?? null, detail: result?.detail ?? '' };
}

/** Why a case failed: the details of its failed evals. */
function failureDetailOf({ results }: CaseRecord): string {
  const failed = results.filter(({ passed }) => !passed);
  return failed.map((result) => `${result.eval}: ${result.detail}`).join('; ');
}

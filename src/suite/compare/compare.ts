import { RuntimeError } from '../../errors.ts';
import { suggest } from '../../yaml/suggest.ts';
import type { CaseRecord, EvalHeader, RunSource } from '../run/record.ts';
import type { Comparison, Difference, EvalDifference, SideInfo } from './comparison.ts';
import { type Listing, lookUp, newListing, toChanges } from './listing.ts';
import { type Meet, pairUp, type Row } from './pair-up.ts';
import { newRowTally, type RowTally } from './row-tally.ts';
import type { Side } from './side.ts';
import { refuseUnknownTag } from './unknown-tag.ts';

export interface CompareOptions {
  /** Only cases of these tags. */
  readonly tagA?: string | undefined;
  readonly tagB?: string | undefined;
  /** One eval against another, rather than each against the one of its id; both or neither. */
  readonly evalA?: string | undefined;
  readonly evalB?: string | undefined;
}

/**
 * Compares a run with another, or with itself where tags or evals make two sides of it; cases are paired by their
 * ids. Throws NAME_UNKNOWN for an eval that its run does not have, USAGE, also for a tag that no case of its run has,
 * and what reading the runs throws.
 */
export async function compareRuns(
  sourceA: RunSource,
  sourceB: RunSource,
  options: CompareOptions = {},
): Promise<Comparison> {
  const a: Side = { source: sourceA, tag: options.tagA };
  const b: Side = { source: sourceB, tag: options.tagB };
  const crossed = crossedRow(sourceA.header.evals, sourceB.header.evals, options);
  const rows = crossed === undefined ? sharedRows(sourceA, sourceB) : [crossed];
  const { works, counts } = await work(a, b, rows);
  if (counts.a === 0) await refuseUnknownTag(a);
  if (counts.b === 0) await refuseUnknownTag(b);
  const records = await lookUp(
    a,
    works.map(({ listing }) => listing),
  );
  return {
    a: toInfo(a, crossed?.a, counts.a),
    b: toInfo(b, crossed?.b, counts.b),
    cases: crossed === undefined ? wholeCases(works, records) : null,
    evals: works.flatMap((each) => toEvalDifference(each, records, sourceA)),
    evals_only_in_a: crossed === undefined ? idsOnlyIn(sourceA, sourceB) : [],
    evals_only_in_b: crossed === undefined ? idsOnlyIn(sourceB, sourceA) : [],
  };
}

/** The one row that named evals ask for. */
function crossedRow(
  ofA: readonly EvalHeader[],
  ofB: readonly EvalHeader[],
  { evalA, evalB }: CompareOptions,
): Row | undefined {
  if (evalA === undefined && evalB === undefined) return undefined;
  if (evalA === undefined || evalB === undefined) {
    throw new RuntimeError('USAGE', 'one eval is compared with another: name both');
  }
  requireEval(evalA, ofA);
  requireEval(evalB, ofB);
  return { a: evalA, b: evalB };
}

function requireEval(id: string, evals: readonly EvalHeader[]): void {
  const known = evals.map((each) => each.id);
  if (known.includes(id)) return;
  throw new RuntimeError('NAME_UNKNOWN', `the run has no eval "${id}"`, suggest(id, known, 'evals'));
}

/** The cases as wholes, and the evals that both runs have. */
function sharedRows(a: RunSource, b: RunSource): Row[] {
  const ids = new Set(b.header.evals.map(({ id }) => id));
  const shared = a.header.evals.filter(({ id }) => ids.has(id));
  const isShadows = a.header.kind === 'shadow' && b.header.kind === 'shadow';
  return [
    ...(isShadows ? [] : [{ a: undefined, b: undefined }]),
    ...shared.map(({ id }) => ({ a: id, b: id })),
  ];
}

interface Work {
  readonly row: Row;
  readonly tally: RowTally;
  readonly listing: Listing;
}

async function work(a: Side, b: Side, rows: readonly Row[]) {
  const works: Work[] = rows.map((row) => ({ row, tally: newRowTally(), listing: newListing(row) }));
  const counts = { a: 0, b: 0 };
  const meet: Meet = ({ a: ofA, b: ofB }, record) => {
    if (ofA !== undefined) counts.a += 1;
    if (ofB !== undefined) counts.b += 1;
    for (const [index, { tally, listing }] of works.entries()) {
      const turn = tally.add(ofA?.outcomes[index], ofB?.outcomes[index]);
      if (ofA !== undefined && record !== undefined) listing.add(turn, ofA.number, record);
    }
  };
  await pairUp(a, b, rows, meet);
  return { works, counts };
}

type Records = ReadonlyMap<number, CaseRecord>;

function wholeCases(works: readonly Work[], records: Records): Difference | null {
  const whole = works.find(({ row }) => row.a === undefined);
  return whole === undefined ? null : toDifference(whole, records);
}

function toEvalDifference(each: Work, records: Records, { header }: RunSource): EvalDifference[] {
  const { a, b } = each.row;
  if (a === undefined || b === undefined) return [];
  const classification = each.tally.classification();
  const decisions = each.tally.decisions();
  return [
    {
      eval_a: a,
      eval_b: b,
      role: header.evals.find(({ id }) => id === a)?.role ?? 'metric',
      ...toDifference(each, records),
      ...(classification === undefined ? {} : { classification }),
      ...(decisions === undefined ? {} : { decisions }),
    },
  ];
}

function toDifference({ row, tally, listing }: Work, records: Records): Difference {
  return {
    ...tally.difference(),
    first_regressions: toChanges(listing.regressions, records, row.a),
    first_improvements: toChanges(listing.improvements, records, row.a),
  };
}

function toInfo({ source, tag }: Side, evalId: string | undefined, cases: number): SideInfo {
  const { run_id, kind, suite, started_at } = source.header;
  return {
    ...{ run_id, suite, started_at },
    ...(kind === undefined ? {} : { kind }),
    ...(tag === undefined ? {} : { tag }),
    ...(evalId === undefined ? {} : { eval: evalId }),
    cases,
    is_complete: kind === 'shadow' || source.report !== undefined,
  };
}

function idsOnlyIn(one: RunSource, other: RunSource): string[] {
  const ids = new Set(other.header.evals.map(({ id }) => id));
  return one.header.evals.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
}

import { RuntimeError } from '../../errors.ts';
import { suggest } from '../../text/suggest.ts';
import { omitUndefined } from '../../yaml/present.ts';
import type { CaseRecord, EvalHeader, RunHeader, RunSource } from '../run/record.ts';
import { type ComparisonRow, type OnPair, pairCases } from './case-pairs.ts';
import { type ChangeList, newChangeList, readListedCases, toChanges } from './change-list.ts';
import type { Comparison, Difference, EvalDifference, SideInfo } from './comparison.ts';
import { onlyVariant } from './one-variant.ts';
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
  /** Only this variant of both; a run without variants is taken as it is. */
  readonly variant?: string | undefined;
}

/**
 * Compares a run with another, or with itself where tags or evals make two sides of it; cases are paired by their
 * ids. Throws NAME_UNKNOWN for an eval or a variant that its run does not have, USAGE, also for a tag that no case of its run has,
 * and what reading the runs throws.
 */
export async function compareRuns(
  runA: RunSource,
  runB: RunSource,
  options: CompareOptions = {},
): Promise<Comparison> {
  const { variant } = options;
  const only = (run: RunSource): RunSource => (variant === undefined ? run : onlyVariant(run, variant));
  const [sourceA, sourceB] = [only(runA), only(runB)];
  refuseOtherVariants(sourceA.header, sourceB.header);
  const a: Side = { source: sourceA, tag: options.tagA };
  const b: Side = { source: sourceB, tag: options.tagB };
  const crossRow = findCrossRow(sourceA.header.evals, sourceB.header.evals, options);
  const rows = crossRow === undefined ? sharedRows(sourceA, sourceB) : [crossRow];
  const { states, counts } = await tallyRows(a, b, rows);
  if (counts.a === 0) await refuseUnknownTag(a);
  if (counts.b === 0) await refuseUnknownTag(b);
  const records = await readListedCases(
    a,
    states.map(({ listing }) => listing),
  );
  return {
    a: toInfo(a, crossRow?.a, counts.a),
    b: toInfo(b, crossRow?.b, counts.b),
    cases: crossRow === undefined ? wholeCases(states, records) : null,
    evals: states.flatMap((each) => toEvalDifference(each, records, sourceA)),
    evals_only_in_a: crossRow === undefined ? idsOnlyIn(sourceA, sourceB) : [],
    evals_only_in_b: crossRow === undefined ? idsOnlyIn(sourceB, sourceA) : [],
  };
}

/** Cases of a matrix are paired with those of the same variant, one after another. Throws USAGE where they have others. */
function refuseOtherVariants(a: RunHeader, b: RunHeader): void {
  const [ofA, ofB] = [a, b].map(({ variants }) => (variants ?? []).map(({ name }) => name));
  if (JSON.stringify(ofA) === JSON.stringify(ofB)) return;
  const say = (names: readonly string[] = []) => (names.length === 0 ? 'none' : names.join(', '));
  throw new RuntimeError('USAGE', `the runs have other variants: A ${say(ofA)}, B ${say(ofB)}`, {
    hint: 'Compare one that both have, with --variant NAME; those of one run are compared in its own report.',
  });
}

/** The one row for `evalA` against `evalB`; undefined when neither is given. */
function findCrossRow(
  ofA: readonly EvalHeader[],
  ofB: readonly EvalHeader[],
  { evalA, evalB }: CompareOptions,
): ComparisonRow | undefined {
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
function sharedRows(a: RunSource, b: RunSource): ComparisonRow[] {
  const ids = new Set(b.header.evals.map(({ id }) => id));
  const shared = a.header.evals.filter(({ id }) => ids.has(id));
  const isShadows = a.header.kind === 'shadow' && b.header.kind === 'shadow';
  return [
    ...(isShadows ? [] : [{ a: undefined, b: undefined }]),
    ...shared.map(({ id }) => ({ a: id, b: id })),
  ];
}

interface RowState {
  readonly row: ComparisonRow;
  readonly tally: RowTally;
  readonly listing: ChangeList;
}

async function tallyRows(a: Side, b: Side, rows: readonly ComparisonRow[]) {
  const states: RowState[] = rows.map((row) => ({ row, tally: newRowTally(), listing: newChangeList(row) }));
  const counts = { a: 0, b: 0 };
  const onPair: OnPair = ({ a: ofA, b: ofB }, record) => {
    if (ofA !== undefined) counts.a += 1;
    if (ofB !== undefined) counts.b += 1;
    for (const [index, { tally, listing }] of states.entries()) {
      const change = tally.add(ofA?.outcomes[index], ofB?.outcomes[index]);
      if (ofA !== undefined && record !== undefined) listing.add(change, ofA.number, record);
    }
  };
  await pairCases(a, b, rows, onPair);
  return { states, counts };
}

type Records = ReadonlyMap<number, CaseRecord>;

function wholeCases(states: readonly RowState[], records: Records): Difference | null {
  const whole = states.find(({ row }) => row.a === undefined);
  return whole === undefined ? null : toDifference(whole, records);
}

function toEvalDifference(each: RowState, records: Records, { header }: RunSource): EvalDifference[] {
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
      ...omitUndefined({ classification, decisions }),
    },
  ];
}

function toDifference({ row, tally, listing }: RowState, records: Records): Difference {
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
    ...omitUndefined({ tag, eval: evalId }),
    cases,
    is_complete: kind === 'shadow' || source.report !== undefined,
  };
}

function idsOnlyIn(one: RunSource, other: RunSource): string[] {
  const ids = new Set(other.header.evals.map(({ id }) => id));
  return one.header.evals.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
}

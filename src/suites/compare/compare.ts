import { RuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import { omitUndefined } from '../../base/yaml/present.ts';
import { onlyVariant } from '../rating/one-variant.ts';
import type { CaseRecord, EvalHeader, RunHeader, RunSource } from '../record.ts';
import { hintOfTags } from '../select/tag-watch.ts';
import type { Change, Comparison, Difference, EvalDifference, SideInfo, SideResult } from './comparison.ts';
import { newRowTally, type RowTally } from './pair-tally.ts';
import { type ComparisonRow, casesOf, type OnPair, pairCases, type ResultKey, type Side } from './side.ts';

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
  const records = await readListedCases(a, states);
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

/** A row with its first changes, whose results on side A are read when all are known. */
interface RowState {
  readonly row: ComparisonRow;
  readonly tally: RowTally;
  readonly regression: ListedChange[];
  readonly improvement: ListedChange[];
}

interface ListedChange {
  /** The number of the case in its run. */
  readonly numberInA: number;
  readonly case: string;
  readonly b: SideResult;
}

const maxListed = 50;

async function tallyRows(a: Side, b: Side, rows: readonly ComparisonRow[]) {
  const states: RowState[] = rows.map((row) => ({
    ...{ row, tally: newRowTally(), regression: [], improvement: [] },
  }));
  const counts = { a: 0, b: 0 };
  const onPair: OnPair = ({ a: ofA, b: ofB }, record) => {
    if (ofA !== undefined) counts.a += 1;
    if (ofB !== undefined) counts.b += 1;
    for (const [index, { row, tally, ...listed }] of states.entries()) {
      const change = tally.add(ofA?.outcomes[index], ofB?.outcomes[index]);
      if (change === 'none' || ofA === undefined || record === undefined) continue;
      if (listed[change].length >= maxListed) continue;
      listed[change].push({ numberInA: ofA.number, case: record.id, b: toSideResult(record, row.b) });
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

function toDifference({ row, tally, regression, improvement }: RowState, records: Records): Difference {
  return {
    ...tally.difference(),
    first_regressions: toChanges(regression, records, row.a),
    first_improvements: toChanges(improvement, records, row.a),
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

/** Reads the listed cases of side A, by their numbers. */
async function readListedCases(side: Side, states: readonly RowState[]): Promise<Records> {
  const wanted = new Set(
    states.flatMap(({ regression, improvement }) =>
      [...regression, ...improvement].map(({ numberInA }) => numberInA),
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
function toChanges(listed: readonly ListedChange[], records: Records, key: ResultKey): Change[] {
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

/** Throws USAGE, with the known tags as the hint; to be called when no case of the side has its tag. */
async function refuseUnknownTag({ source, tag }: Side): Promise<void> {
  if (tag === undefined) return;
  const known = new Set<string>();
  for await (const { tags } of source.cases()) for (const each of tags) known.add(each);
  const message = `no case of run ${source.header.run_id} has the tag "${tag}"`;
  throw new RuntimeError('USAGE', message, hintOfTags(tag, known));
}

import { RuntimeError } from '../../base/errors.ts';
import { suggest } from '../../base/text/suggest.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { onlyVariant } from '../rating/rated-variant.ts';
import type { CaseRecord, EvalHeader, RunHeader, RunSource } from '../record.ts';
import { hintOfTags } from '../select/tag-watch.ts';
import type { Change, Comparison, Difference, SideInfo, SideResult } from './comparison.ts';
import { newRowTally, type RowTally } from './pair-tally.ts';
import { type ComparisonRow, casesOf, pairCases, type ResultKey, type Side } from './side.ts';

export interface CompareOptions {
  readonly tagA?: string | undefined;
  readonly tagB?: string | undefined;
  /** Compares one eval with another instead of each with the one of the same id. Set both or neither. */
  readonly evalA?: string | undefined;
  readonly evalB?: string | undefined;
  /** Selects one variant of both runs; ignored for a run without variants. */
  readonly variant?: string | undefined;
}

/**
 * Compares two runs, or two parts of one run selected by tags or evals. Pairs cases by id. Throws NAME_UNKNOWN for an
 * unknown eval or variant and USAGE for an unknown tag. Rethrows errors from reading the runs.
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
  const rows = crossRow === undefined ? sharedRows(sourceA.header, sourceB.header) : [crossRow];
  const { states, counts } = await tallyRows(a, b, rows);
  if (counts.a === 0) await refuseUnknownTag(a);
  if (counts.b === 0) await refuseUnknownTag(b);

  const wanted = new Set(
    states.flatMap(({ regression, improvement }) =>
      [...regression, ...improvement].map(({ numberInA }) => numberInA),
    ),
  );
  const records = new Map<number, CaseRecord>();
  if (wanted.size > 0) {
    for await (const record of casesOf(a)) {
      if (wanted.delete(record.number)) records.set(record.number, record);
      if (wanted.size === 0) break;
    }
  }
  const toChanges = (listed: readonly ListedChange[], key: ResultKey): Change[] =>
    listed.flatMap(({ numberInA, case: id, b: ofB }) => {
      const record = records.get(numberInA);
      if (record === undefined) return [];
      const question = questionOf(record);
      const sides = { a: toSideResult(record, key), b: ofB };
      return [{ case: id, ...(question !== undefined && { question }), ...sides }];
    });
  const toDifference = ({ row, tally, regression, improvement }: RowState): Difference => ({
    ...tally.difference(),
    first_regressions: toChanges(regression, row.a),
    first_improvements: toChanges(improvement, row.a),
  });

  const whole = states.find(({ row }) => row.a === undefined);
  return {
    a: toInfo(a, crossRow?.a, counts.a),
    b: toInfo(b, crossRow?.b, counts.b),
    cases: whole === undefined ? null : toDifference(whole),
    evals: states.flatMap((state) => {
      const { row, tally } = state;
      if (row.a === undefined || row.b === undefined) return [];
      const role = sourceA.header.evals.find(({ id }) => id === row.a)?.role ?? 'metric';
      return [
        {
          ...{ eval_a: row.a, eval_b: row.b, role, ...toDifference(state) },
          ...omitUndefined({ classification: tally.classification(), decisions: tally.decisions() }),
        },
      ];
    }),
    evals_only_in_a: crossRow === undefined ? idsOnlyIn(sourceA.header, sourceB.header) : [],
    evals_only_in_b: crossRow === undefined ? idsOnlyIn(sourceB.header, sourceA.header) : [],
  };
}

function refuseOtherVariants(a: RunHeader, b: RunHeader): void {
  const [ofA, ofB] = [a, b].map(({ variants }) => (variants ?? []).map(({ name }) => name));
  if (JSON.stringify(ofA) === JSON.stringify(ofB)) return;
  const say = (names: readonly string[] = []) => (names.length === 0 ? 'none' : names.join(', '));
  throw new RuntimeError('USAGE', `the runs have different variants: A ${say(ofA)}, B ${say(ofB)}`, {
    hint: 'Choose a variant that both runs have with --variant NAME. The report of a run compares its own variants.',
  });
}

function findCrossRow(
  ofA: readonly EvalHeader[],
  ofB: readonly EvalHeader[],
  { evalA, evalB }: CompareOptions,
): ComparisonRow | undefined {
  if (evalA === undefined && evalB === undefined) return undefined;
  if (evalA === undefined || evalB === undefined)
    throw new RuntimeError('USAGE', 'to compare one eval with another, name both');
  for (const [id, evals] of [[evalA, ofA] as const, [evalB, ofB] as const]) {
    const known = evals.map((each) => each.id);
    if (!known.includes(id))
      throw new RuntimeError('NAME_UNKNOWN', `the run has no eval "${id}"`, suggest(id, known, 'evals'));
  }
  return { a: evalA, b: evalB };
}

function sharedRows(a: RunHeader, b: RunHeader): ComparisonRow[] {
  const ids = new Set(b.evals.map(({ id }) => id));
  const isShadows = a.kind === 'shadow' && b.kind === 'shadow';
  return [
    ...(isShadows ? [] : [{ a: undefined, b: undefined }]),
    ...a.evals.filter(({ id }) => ids.has(id)).map(({ id }) => ({ a: id, b: id })),
  ];
}

function idsOnlyIn(one: RunHeader, other: RunHeader): string[] {
  const ids = new Set(other.evals.map(({ id }) => id));
  return one.evals.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
}

interface RowState {
  readonly row: ComparisonRow;
  readonly tally: RowTally;
  readonly regression: ListedChange[];
  readonly improvement: ListedChange[];
}

interface ListedChange {
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
  await pairCases(a, b, rows, ({ a: ofA, b: ofB }, record) => {
    if (ofA !== undefined) counts.a += 1;
    if (ofB !== undefined) counts.b += 1;
    for (const [index, { row, tally, ...listed }] of states.entries()) {
      const change = tally.add(ofA?.outcomes[index], ofB?.outcomes[index]);
      if (change === 'none' || ofA === undefined || record === undefined) continue;
      if (listed[change].length >= maxListed) continue;
      listed[change].push({ numberInA: ofA.number, case: record.id, b: toSideResult(record, row.b) });
    }
  });
  return { states, counts };
}

function toInfo({ source, tag }: Side, evalId: string | undefined, cases: number): SideInfo {
  const { run_id, kind, suite, started_at } = source.header;
  return {
    ...{ run_id, suite, started_at },
    ...omitUndefined({ kind, tag, eval: evalId }),
    cases,
    is_complete: kind === 'shadow' || source.report !== undefined,
  };
}

/** The last user message of a chat, otherwise the question field of the row. */
function questionOf({ epochs: [first], row = {} }: CaseRecord): string | undefined {
  const asked = first?.messages.findLast(({ role }) => role === 'user')?.content;
  const field = ['question', 'input', 'prompt', 'query'].map((name) => row[name]);
  const question = asked ?? field.find((value): value is string => typeof value === 'string');
  return question === undefined || question === '' ? undefined : question.slice(0, LONGEST_QUESTION);
}

const LONGEST_QUESTION = 1_000;

function toSideResult(record: CaseRecord, key: ResultKey): SideResult {
  const { number, file, line } = record;
  if (key === undefined) {
    const failed = record.results.filter(({ passed }) => !passed);
    const detail = failed.map((result) => `${result.eval}: ${result.detail}`).join('; ');
    return { number, file, line, score: record.score, detail };
  }
  const result = record.results.find((each) => each.eval === key);
  return { number, file, line, score: result?.score ?? null, detail: result?.detail ?? '' };
}

/** Call only if no case has the tag. Throws USAGE with the known tags as a hint. */
async function refuseUnknownTag({ source, tag }: Side): Promise<void> {
  if (tag === undefined) return;
  const known = new Set<string>();
  for await (const { tags } of source.cases()) for (const each of tags) known.add(each);
  const message = `no case of run ${source.header.run_id} has the tag "${tag}"`;
  throw new RuntimeError('USAGE', message, hintOfTags(tag, known));
}

import { hash } from 'node:crypto';
import { catalogue, RuntimeError } from '../../base/errors.ts';
import { type CompiledCode, compileCode, withVariables } from '../../base/expression/cel.ts';
import { ExpressionError } from '../../base/expression/expression.ts';
import { yieldAfterLongWork } from '../../base/time/time-limit.ts';
import { describeRowValue, type Row } from '../dataset/row.ts';
import type { TagWatch } from './tag-watch.ts';

/**
 * Composes the stages of a selection: filter, tags, shard, sample, maximum of cases, row numbers. Unusable rows pass
 * all stages except shard and row numbers, and are not counted. Throws USAGE for an invalid selection.
 */
export function compileSelection(selection: Selection, watch?: TagWatch): SelectionStage {
  const { filter, tags, shard, sample, maxCases, rows } = selection;
  const stages: SelectionStage[] = [];
  if (filter !== undefined) stages.push(compileFilter(filter));
  if (tags !== undefined && tags.length > 0) stages.push(takeTagged(new Set(tags), watch));
  if (shard !== undefined) stages.push(takeShard(requireShard(shard)));
  if (sample !== undefined) stages.push(takeSample(requireSample(sample)));
  if (maxCases !== undefined) stages.push(takeFirst(requireCount(maxCases, 'the maximum number of cases')));
  if (rows !== undefined)
    stages.push(takeRows(new Set(rows.map((row) => requireCount(row, 'the number of a row')))));
  return (candidates) => stages.reduce((source, stage) => stage(source), candidates);
}

type Shard = NonNullable<Selection['shard']>;
type Sample = NonNullable<Selection['sample']>;

function requireShard(shard: Shard): Shard {
  const count = requireCount(shard.count, 'the number of shards');
  if (requireCount(shard.index, 'the shard') <= count) return shard;
  throw new RuntimeError('USAGE', `there is no shard ${shard.index} of ${count}`, {
    hint: 'Shards are counted from 1: `--shard 1/3`, `--shard 2/3` and `--shard 3/3` are all of three.',
  });
}

function requireSample(sample: Sample): Sample {
  requireCount(sample.size, 'the size of a sample');
  if (Number.isSafeInteger(sample.seed)) return sample;
  throw new RuntimeError('USAGE', `the seed of a sample must be a whole number, not ${sample.seed}`);
}

function requireCount(count: number, subject: string): number {
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new RuntimeError('USAGE', `${subject} must be a whole number from 1, not ${count}`);
}

/** The shard of a case depends only on its id, and that of an invalid row on its number. */
function takeShard({ index, count }: NonNullable<Selection['shard']>): SelectionStage {
  return async function* (candidates) {
    for await (const candidate of candidates) {
      if (hashText(shardKeyOf(candidate)) % count === index - 1) yield candidate;
    }
  };
}

function shardKeyOf(candidate: Candidate): string {
  return 'problem' in candidate ? String(candidate.row.number) : candidate.id;
}

/**
 * Selects the cases with the lowest hashes of id and seed, in dataset order. Adding a case to the dataset changes at
 * most one case of the sample. Yields when the source ends, but passes invalid rows at once. Holds at most twice its
 * size.
 */
function takeSample({ size, seed }: NonNullable<Selection['sample']>): SelectionStage {
  return async function* (candidates) {
    let ranked: RankedCase[] = [];
    for await (const candidate of candidates) {
      if ('problem' in candidate) {
        yield candidate;
        continue;
      }
      ranked.push({ rank: hashText(`${seed}\n${candidate.id}`), candidate });
      if (ranked.length === size * 2) ranked = lowest(ranked, size);
    }
    yield* lowest(ranked, size)
      .map(({ candidate }) => candidate)
      .toSorted((one, other) => one.row.number - other.row.number);
  };
}

interface RankedCase {
  readonly rank: number;
  readonly candidate: CaseCandidate;
}

function lowest(ranked: readonly RankedCase[], size: number): RankedCase[] {
  const byRank = (one: RankedCase, other: RankedCase): number =>
    one.rank - other.rank || one.candidate.row.number - other.candidate.row.number;
  return ranked.toSorted(byRank).slice(0, size);
}

function hashText(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}

function takeTagged(wanted: ReadonlySet<string>, watch?: TagWatch): SelectionStage {
  return async function* (candidates) {
    for await (const candidate of candidates) {
      const isTaken = 'problem' in candidate || candidate.tags.some((tag) => wanted.has(tag));
      if (!('problem' in candidate)) watch?.see(candidate.tags, isTaken);
      if (isTaken) yield candidate;
    }
    watch?.end();
  };
}

function takeFirst(most: number): SelectionStage {
  return async function* (candidates) {
    let taken = 0;
    for await (const candidate of candidates) {
      yield candidate;
      if (!('problem' in candidate)) taken += 1;
      if (taken === most) return;
    }
  };
}

function takeRows(numbers: ReadonlySet<number>): SelectionStage {
  return async function* (candidates) {
    let taken = 0;
    for await (const candidate of candidates) {
      if (!numbers.has(candidate.row.number)) continue;
      yield candidate;
      taken += 1;
      if (taken === numbers.size) return;
    }
  };
}

/**
 * Takes the cases for which a CEL expression over `case` is true. An evaluation error becomes a problem of the row.
 * Throws USAGE if the text cannot be compiled or never gives a boolean.
 */
function compileFilter(filter: string): SelectionStage {
  const code = compile(filter);
  if (!['bool', 'dyn', 'optional'].some((known) => code.type.startsWith(known))) {
    throw badFilter(filter, `has type ${code.type}, but must be true or false`);
  }
  return async function* (candidates) {
    for await (const candidate of candidates) {
      await yieldAfterLongWork();
      const passed = 'problem' in candidate ? candidate : judge(candidate, code, filter);
      if (passed !== undefined) yield passed;
    }
  };
}

function compile(filter: string): CompiledCode {
  try {
    return compileCode(filter, withVariables(['case']), []);
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown;
    throw badFilter(filter, 'is not valid', thrown);
  }
}

function badFilter(filter: string, why: string, cause?: Error): RuntimeError {
  const reason = cause === undefined ? '' : `: ${cause.message}`;
  return new RuntimeError('USAGE', `the filter \`${filter}\` ${why}${reason}`, {
    hint: 'A filter is a CEL expression over `case`, the row, without ${}: `case.lang == "de" && case.turns > 2`.',
    cause,
  });
}

function judge(candidate: CaseCandidate, code: CompiledCode, filter: string): Candidate | undefined {
  const { row, value } = candidate;
  try {
    const verdict = code.evaluate({ case: value });
    if (typeof verdict === 'boolean') return verdict ? candidate : undefined;
    const message = `the filter \`${filter}\` gives ${describeRowValue(verdict)}, not true or false`;
    return { row, problem: { message } };
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'EXPRESSION_FAILED') throw error;
    const { message, hint, code: failed } = error;
    const problem = { message: `the filter fails: ${message}` };
    return { row, problem: hint === catalogue[failed].hint ? problem : { ...problem, hint } };
  }
}

export interface Selection {
  readonly filter?: string;
  readonly tags?: readonly string[];
  /** A random sample, equal for equal seeds. */
  readonly sample?: { readonly size: number; readonly seed: number };
  /** One of `count` parts by case id; `index` starts at 1. */
  readonly shard?: { readonly index: number; readonly count: number };
  readonly maxCases?: number;
  /** Row numbers from 1, applied after the other members. */
  readonly rows?: readonly number[];
}

export type Candidate = CaseCandidate | ProblemCandidate;

export interface CaseCandidate {
  readonly row: Row;
  readonly id: string;
  readonly tags: readonly string[];
  readonly value: Readonly<Record<string, unknown>>;
}

interface ProblemCandidate {
  readonly row: Row;
  readonly problem: { readonly message: string; readonly hint?: string };
}

/** Keeps the order, and closes the source when it needs no more candidates. */
export type SelectionStage = (candidates: AsyncIterable<Candidate>) => AsyncIterable<Candidate>;

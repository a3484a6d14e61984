import { RuntimeError } from '../../base/errors.ts';
import { compileFilter } from './filter.ts';
import { takeSample } from './sample.ts';
import type { Selection, SelectionStage } from './selection.ts';
import { takeShard } from './shard.ts';
import type { TagWatch } from './tag-watch.ts';
import { takeFirst, takeRows, takeTagged } from './take.ts';

export type { Candidate, Selection } from './selection.ts';

/**
 * Composes the stages of a selection: filter, tags, shard, sample, maximum of cases, row numbers. Rows that
 * cannot be used pass all stages but shard and row numbers, and are not counted. Throws USAGE for an
 * invalid selection.
 */
export function compileSelection(selection: Selection, watch?: TagWatch): SelectionStage {
  const { filter, tags, shard, sample, maxCases, rows } = selection;
  const stages: SelectionStage[] = [];
  if (filter !== undefined) stages.push(compileFilter(filter));
  if (tags !== undefined && tags.length > 0) stages.push(takeTagged(new Set(tags), watch));
  if (shard !== undefined) stages.push(takeShard(requireShard(shard)));
  if (sample !== undefined) stages.push(takeSample(requireSample(sample)));
  if (maxCases !== undefined) stages.push(takeFirst(requireCount(maxCases, 'the greatest number of cases')));
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

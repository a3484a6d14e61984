import { RuntimeError } from '../../../base/errors.ts';
import type { Selection } from '../../../runtime/runtime.ts';
import { readWhole } from '../../input.ts';

/** The options that pick cases. */
export interface SelectionFlags {
  readonly filter?: string;
  readonly tag: readonly string[];
  readonly sample?: string;
  readonly seed?: string;
  readonly shard?: string;
  readonly maxCases?: string;
}

/** Reads the selection of cases from options; undefined for all cases. Throws USAGE. */
export function readSelection(flags: SelectionFlags): Selection | undefined {
  const { filter, tag } = flags;
  const size = readWhole('--sample', flags.sample);
  const seed = readWhole('--seed', flags.seed, 0) ?? 0;
  const maxCases = readWhole('--max-cases', flags.maxCases);
  if (flags.seed !== undefined && size === undefined) {
    throw new RuntimeError('USAGE', '--seed is of use with --sample only');
  }
  const selection: Selection = {
    ...(filter === undefined ? {} : { filter }),
    ...(tag.length === 0 ? {} : { tags: tag }),
    ...(size === undefined ? {} : { sample: { size, seed } }),
    ...(flags.shard === undefined ? {} : { shard: readShard(flags.shard) }),
    ...(maxCases === undefined ? {} : { maxCases }),
  };
  return Object.keys(selection).length === 0 ? undefined : selection;
}

function readShard(text: string): { index: number; count: number } {
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (index === undefined || count === undefined) {
    throw new RuntimeError('USAGE', `--shard takes I/N, such as 2/4, not ${text}`);
  }
  return { index: Number(index), count: Number(count) };
}

import { hashText } from './hash.ts';
import type { Candidate, Selection, SelectionStage } from './selection.ts';

/**
 * Takes one shard. The shard of a case depends on its id alone; that of a row that cannot be used, on its
 * number.
 */
export function takeShard({ index, count }: NonNullable<Selection['shard']>): SelectionStage {
  return async function* (candidates) {
    for await (const candidate of candidates) {
      if (hashText(shardKeyOf(candidate)) % count === index - 1) yield candidate;
    }
  };
}

function shardKeyOf(candidate: Candidate): string {
  return 'problem' in candidate ? String(candidate.row.number) : candidate.id;
}

import { hashText } from './hash.ts';
import type { Candidate, Selection, Stage } from './selection.ts';

/**
 * Takes one shard. A case belongs where its id says, whatever other cases there are; a row that is no case, and so has
 * no id, where its number says.
 */
export function takeShard({ index, count }: NonNullable<Selection['shard']>): Stage {
  return async function* (candidates) {
    for await (const candidate of candidates) {
      if (hashText(nameOf(candidate)) % count === index - 1) yield candidate;
    }
  };
}

function nameOf(candidate: Candidate): string {
  return 'problem' in candidate ? String(candidate.row.number) : candidate.id;
}

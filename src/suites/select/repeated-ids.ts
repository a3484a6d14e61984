import { newSeenKeys } from './seen-keys.ts';
import type { CaseCandidate, SelectionStage } from './selection.ts';

/**
 * Takes every candidate, and reports the first case whose id and tags an earlier one has too; cases of different
 * tags may be two sides of a comparison. Looks at the first `most` cases only, so that memory stays
 * bounded: 8 MiB.
 */
export function watchRepeatedIds(
  onRepeat: (candidate: CaseCandidate) => void,
  most = 500_000,
): SelectionStage {
  return async function* (candidates) {
    let seen: ReturnType<typeof newSeenKeys> | undefined = newSeenKeys();
    for await (const candidate of candidates) {
      if (seen !== undefined && !('problem' in candidate)) {
        const isRepeated = !seen.add(keyOf(candidate));
        if (isRepeated) onRepeat(candidate);
        if (isRepeated || seen.size() >= most) seen = undefined;
      }
      yield candidate;
    }
  };
}

/** Lengths stand before the texts, so that no two lists of texts have the same key. */
function keyOf({ id, tags }: CaseCandidate): string {
  let key = `${id.length} ${id}`;
  for (const tag of tags) key += ` ${tag.length} ${tag}`;
  return key;
}

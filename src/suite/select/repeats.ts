import { hashText } from './hash.ts';
import type { Stage } from './selection.ts';

/**
 * Takes every candidate, and tells of the first id that two cases of the same tags share. Of different tags they
 * may be two sides of a comparison. Looks at the first cases only, so that memory stays bounded.
 */
export function watchRepeats(tell: (id: string) => void, most = 100_000): Stage {
  return async function* (candidates) {
    const seen = new Set<number>();
    let isWatching = true;
    for await (const candidate of candidates) {
      if (isWatching && !('problem' in candidate)) {
        const hash = hashText(JSON.stringify([candidate.id, candidate.tags]));
        const isRepeated = seen.has(hash);
        if (isRepeated) tell(candidate.id);
        else seen.add(hash);
        isWatching = !isRepeated && seen.size < most;
        if (!isWatching) seen.clear();
      }
      yield candidate;
    }
  };
}

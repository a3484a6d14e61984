import { hashText } from './hash.ts';
import type { SelectionStage } from './selection.ts';

/**
 * Takes every candidate, and reports the first id that two cases with the same tags share; with different
 * tags they may be two sides of a comparison. Looks at the first `most` cases only, so that memory stays
 * bounded.
 */
export function watchRepeatedIds(onRepeat: (id: string) => void, most = 100_000): SelectionStage {
  return async function* (candidates) {
    const seen = new Set<number>();
    let isWatching = true;
    for await (const candidate of candidates) {
      if (isWatching && !('problem' in candidate)) {
        const hash = hashText(JSON.stringify([candidate.id, candidate.tags]));
        const isRepeated = seen.has(hash);
        if (isRepeated) onRepeat(candidate.id);
        else seen.add(hash);
        isWatching = !isRepeated && seen.size < most;
        if (!isWatching) seen.clear();
      }
      yield candidate;
    }
  };
}

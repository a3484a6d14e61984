import type { SelectionStage } from './selection.ts';
import type { TagWatch } from './tag-watch.ts';

/** Takes the cases that have any of the tags. */
export function takeTagged(wanted: ReadonlySet<string>, watch?: TagWatch): SelectionStage {
  return async function* (candidates) {
    for await (const candidate of candidates) {
      const isTaken = 'problem' in candidate || candidate.tags.some((tag) => wanted.has(tag));
      if (!('problem' in candidate)) watch?.see(candidate.tags, isTaken);
      if (isTaken) yield candidate;
    }
    watch?.end();
  };
}

/** Takes that many cases, at least one, and closes the source with the last of them. */
export function takeFirst(most: number): SelectionStage {
  return async function* (candidates) {
    let taken = 0;
    for await (const candidate of candidates) {
      yield candidate;
      if (!('problem' in candidate)) taken += 1;
      if (taken === most) return;
    }
  };
}

/** Takes the rows of these numbers, cases or not, and closes the source with the last of them. */
export function takeRows(numbers: ReadonlySet<number>): SelectionStage {
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

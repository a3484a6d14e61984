import type { Stage } from './selection.ts';

/** Takes the cases that have any of the tags. */
export function takeTagged(wanted: ReadonlySet<string>): Stage {
  return async function* (candidates) {
    for await (const candidate of candidates) {
      if ('problem' in candidate || candidate.tags.some((tag) => wanted.has(tag))) yield candidate;
    }
  };
}

/** Takes that many cases, at least one, and closes the source with the last of them. */
export function takeFirst(most: number): Stage {
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
export function takeRows(numbers: ReadonlySet<number>): Stage {
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

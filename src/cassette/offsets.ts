import type { Place } from './lines.ts';

/** Places by number, in as little memory as very many of them allow. */
export interface Places {
  /** Keeps a place and gives its number. */
  add(place: Place): number;
  /** The place of that number, which `add` gave. */
  at(number: number): Place;
}

export function createPlaces(): Places {
  let offsets = new Float64Array(FIRST_ROOM);
  let lengths = new Float64Array(FIRST_ROOM);
  let count = 0;
  return {
    add: ({ offset, length }) => {
      if (count === offsets.length) {
        offsets = doubled(offsets);
        lengths = doubled(lengths);
      }
      offsets[count] = offset;
      lengths[count] = length;
      count += 1;
      return count - 1;
    },
    at: (number) => ({ offset: offsets[number] ?? 0, length: lengths[number] ?? 0 }),
  };
}

const FIRST_ROOM = 64;

function doubled(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}

/** Half of a SHA-256 in a quarter of its characters: enough to tell apart what one file holds. */
export function shorten(digest: string): string {
  return Buffer.from(digest, 'hex').toString('latin1', 0, 16);
}

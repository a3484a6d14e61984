import type { ByteRange } from './lines.ts';

/** Byte ranges by number, in two typed arrays, since a cassette may have millions of lines. */
export interface OffsetTable {
  /** Adds a range and returns its number. */
  add(place: ByteRange): number;
  /** The range of a number that `add` returned. */
  get(number: number): ByteRange;
}

export function createOffsetTable(): OffsetTable {
  let offsets = new Float64Array(INITIAL_CAPACITY);
  let lengths = new Float64Array(INITIAL_CAPACITY);
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
    get: (number) => ({ offset: offsets[number] ?? 0, length: lengths[number] ?? 0 }),
  };
}

const INITIAL_CAPACITY = 64;

function doubled(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}

/** The first 16 bytes of a SHA-256 as Latin-1: unique enough within one file, a quarter of its characters. */
export function shortDigest(digest: string): string {
  return Buffer.from(digest, 'hex').toString('latin1', 0, 16);
}

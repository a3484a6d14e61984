import { RuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { anything, members, number, readShape } from '../../base/json/shape.ts';
import { tryParseLossless } from '../../base/json/try-parse.ts';

/** What the rows of a chunk came to, beside their results. */
export interface SharedTally {
  /** How many there were. */
  readonly rows: number;
  /** A state of the accumulator. */
  readonly tally: unknown;
}

export function writeSharedTally(tally: SharedTally): string {
  return stringifyJson(tally);
}

/** Throws STORE_FAILED. */
export function readSharedTally(text: string): SharedTally {
  return readShape(
    members<SharedTally>({ rows: number, tally: anything }),
    tryParseLossless(text),
    (path) => {
      return new RuntimeError('STORE_FAILED', `what a part of a run came to is damaged (at ${path})`);
    },
  );
}

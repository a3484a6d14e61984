import type { Rated } from '../given-ratings.ts';

/** What screen readers call a part of which a matrix has one for each variant. */
export function sayOf(part: string, { variant }: Rated) {
  return variant === undefined ? part : `${part} of ${variant}`;
}

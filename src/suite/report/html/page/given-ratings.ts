import type { Rating } from '../../../rating/rating.ts';

/** What people said of cases, by the ids of these. */
export type GivenRatings = Map<string, readonly Rating[]>;

/** A case that is rated; of a matrix it is one of a variant. */
export interface Rated {
  readonly case: string;
  readonly variant?: string | undefined;
}

/** Which rating. */
export type Place = Rated & Pick<Rating, 'eval' | 'by'>;

/** Those of one case. */
export function ratingsOf(given: GivenRatings, { case: id, variant }: Rated): readonly Rating[] {
  return (given.get(id) ?? []).filter((each) => each.variant === variant);
}

/** Puts a rating in the place of the one that the same person gave before. */
export function addRating(given: GivenRatings, rating: Rating) {
  removeRating(given, rating);
  given.set(rating.case, [...(given.get(rating.case) ?? []), rating]);
}

export function removeRating(given: GivenRatings, place: Place) {
  const others = (given.get(place.case) ?? []).filter((each) => !isAt(each, place));
  given.set(place.case, others);
}

export function isAt(rating: Rating, place: Place) {
  return rating.variant === place.variant && rating.eval === place.eval && rating.by === place.by;
}

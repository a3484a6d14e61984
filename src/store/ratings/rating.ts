import { createHash } from 'node:crypto';

/** Which rating: there is one of each person for each case, and for each eval of it; in a matrix of each variant of these. */
export interface RatingPlace {
  readonly caseId: string;
  /** The eval that is rated; empty for the case as a whole. */
  readonly eval: string;
  /** Who rates. */
  readonly by: string;
  /** Absent outside a matrix. It tells ratings apart; which one it was is read from their texts. */
  readonly variant?: string | undefined;
}

/** A person's rating of a case; `text` is JSON that the store does not read. */
export interface KeptRating extends RatingPlace {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
}

/** What a store of results keeps of people's ratings. All reject with STORE_FAILED. */
export interface RatingStore {
  /** Keeps a rating in the place of the one that the same person gave before. Rejects where there is no such run. */
  keepRating(runId: string, rating: KeptRating): Promise<void>;
  /** False when there was none. */
  removeRating(runId: string, place: RatingPlace): Promise<boolean>;
  /** Those of a run, or of one of its cases, in an order that stays the same, read lazily; without their `variant`. */
  ratings(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<KeptRating>;
}

/** By which a rating is found among those of its run: ids may be longer than what an index takes. */
export function keyOf({ caseId, eval: id, by, variant }: RatingPlace): string {
  const text = JSON.stringify([caseId, id, by, ...(variant === undefined ? [] : [variant])]);
  return createHash('sha256').update(text, 'utf16le').digest('hex');
}

/** A rating with the key that it has in its run. */
export interface KeyedRating {
  readonly key: string;
  readonly rating: KeptRating;
}

/** Reads ratings page by page, so that whoever reads slowly is in nobody's way. */
export async function* inPages(
  page: (afterKey: string) => Promise<readonly KeyedRating[]>,
): AsyncGenerator<KeptRating> {
  for (let after = ''; ; ) {
    const next = await page(after);
    for (const { rating } of next) yield rating;
    const last = next.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
}

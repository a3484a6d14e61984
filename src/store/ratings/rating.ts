import { createHash } from 'node:crypto';

/** Which rating: there is one of each person for each case, and for each eval of it. */
export interface RatingPlace {
  readonly caseId: string;
  /** The eval that is rated; empty for the case as a whole. */
  readonly eval: string;
  /** Who rates. */
  readonly by: string;
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
  /** Those of a run, or of one of its cases, in an order that stays the same, read lazily. */
  ratings(runId: string, filter?: { readonly caseId?: string | undefined }): AsyncIterable<KeptRating>;
}

/** By which a rating is found among those of its run: ids may be longer than what an index takes. */
export function keyOf({ caseId, eval: id, by }: RatingPlace): string {
  const text = JSON.stringify([caseId, id, by]);
  return createHash('sha256').update(text, 'utf16le').digest('hex');
}

/** Reads ratings page by page, so that whoever reads slowly is in nobody's way. */
export async function* inPages(
  page: (afterKey: string) => Promise<readonly KeptRating[]>,
): AsyncGenerator<KeptRating> {
  for (let after = ''; ; ) {
    const next = await page(after);
    yield* next;
    const last = next.at(-1);
    if (last === undefined) return;
    after = keyOf(last);
  }
}

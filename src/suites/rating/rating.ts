import { RuntimeError } from '../../base/errors.ts';

/** What a person thinks of a case, or of what one eval said of it. */
export interface Rating {
  readonly case: string;
  /** Of which variant the case is; only in a matrix. */
  readonly variant?: string;
  /** The eval that is rated; null for the case as a whole. */
  readonly eval: string | null;
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** 0..1. */
  readonly score: number | null;
  /** A word of the person's own, such as `good` or `refusal`. */
  readonly label: string | null;
  readonly comment: string | null;
}

/** A rating to keep: at least one of score, label and comment. It takes the place of the one that the same person gave before. */
export interface RatingInput {
  readonly case: string;
  /** Of which variant the case is: in a matrix it has to be named. */
  readonly variant?: string | undefined;
  readonly eval?: string | undefined;
  readonly by: string;
  /** 0..1. */
  readonly score?: number | undefined;
  readonly label?: string | undefined;
  readonly comment?: string | undefined;
}

/** Which rating: a person has one of each case, and one of each of its evals. */
export type RatingPlace = Pick<RatingInput, 'case' | 'variant' | 'eval' | 'by'>;

/** Throws USAGE for a rating that says nothing, a score beyond 0..1, and texts that are too long or empty. */
export function checkRating({ by, score, label, comment }: RatingInput): void {
  if (score === undefined && label === undefined && comment === undefined) {
    throw new RuntimeError('USAGE', 'the rating says nothing', {
      hint: 'Give a score from 0 to 1, a label or a comment.',
    });
  }
  if (score !== undefined && !(score >= 0 && score <= 1)) {
    throw new RuntimeError('USAGE', `the score of a rating lies in 0..1, not ${score}`);
  }
  requireText('the name of who rates', by, MOST_WORD);
  requireText('the label of a rating', label, MOST_WORD);
  requireText('the comment of a rating', comment, MOST_COMMENT);
}

/** Characters of a name or a label. */
const MOST_WORD = 200;
const MOST_COMMENT = 10_000;

function requireText(what: string, text: string | undefined, most: number): void {
  if (text === undefined) return;
  if (text.trim() === '') throw new RuntimeError('USAGE', `${what} is empty`);
  if (text.length > most) {
    throw new RuntimeError('USAGE', `${what} has ${text.length} characters, and at most ${most} are kept`);
  }
}

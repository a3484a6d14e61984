import { RuntimeError } from '../../base/errors.ts';

export interface Rating {
  readonly case: string;
  readonly variant?: string;
  /** The rated eval; null for the whole case. */
  readonly eval: string | null;
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** 0..1. */
  readonly score: number | null;
  /** Free text, such as `good` or `refusal`. */
  readonly label: string | null;
  readonly comment: string | null;
}

/** A rating with at least one of score, label and comment. It replaces the person's earlier rating. */
export interface RatingInput {
  readonly case: string;
  /** The variant of the case; required in a matrix. */
  readonly variant?: string | undefined;
  readonly eval?: string | undefined;
  readonly by: string;
  /** 0..1. */
  readonly score?: number | undefined;
  readonly label?: string | undefined;
  readonly comment?: string | undefined;
}

/** Identifies a rating. A person has one for each case, and one for each of its evals. */
export type RatingPlace = Pick<RatingInput, 'case' | 'variant' | 'eval' | 'by'>;

/** Throws USAGE for an empty rating, a score outside 0..1, and texts that are empty or too long. */
export function checkRating({ by, score, label, comment }: RatingInput): void {
  if (score === undefined && label === undefined && comment === undefined) {
    throw new RuntimeError('USAGE', 'the rating is empty', {
      hint: 'Give a score from 0 to 1, a label or a comment.',
    });
  }
  if (score !== undefined && !(score >= 0 && score <= 1)) {
    throw new RuntimeError('USAGE', `the score of a rating must be from 0 to 1, not ${score}`);
  }
  requireText('the name of the rater', by, MOST_WORD);
  requireText('the label of a rating', label, MOST_WORD);
  requireText('the comment of a rating', comment, MOST_COMMENT);
}

const MOST_WORD = 200;
const MOST_COMMENT = 10_000;

function requireText(what: string, text: string | undefined, most: number): void {
  if (text === undefined) return;
  if (text.trim() === '') throw new RuntimeError('USAGE', `${what} is empty`);
  if (text.length > most) {
    throw new RuntimeError('USAGE', `${what} has ${text.length} characters; the limit is ${most}`);
  }
}

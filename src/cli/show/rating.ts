import { formatNumber } from '../../base/json/decimal.ts';
import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import type { Rating, RatingPlace } from '../../runtime/runtime.ts';

/** The ratings of a case below what was said of it. */
export function ratingsText(ratings: readonly Rating[]): string {
  return ['ratings', ...ratings.map((rating) => `  ${ratingText(rating).replaceAll('\n', '\n  ')}`)].join(
    '\n',
  );
}

/** `case r1, exact: 0.5 good by ada at 2026-…: why`, a comment of several lines below it. */
export function ratingText(rating: Rating): string {
  const { eval: evalId, by, at, score, label, comment } = rating;
  const of = evalId === null ? '' : `, ${escapeInvisibleLine(evalId)}`;
  const said = [
    ...(score === null ? [] : [formatNumber(score, [0, 1])]),
    ...(label === null ? [] : [escapeInvisibleLine(label)]),
  ].join(' ');
  const head = `${caseName(rating)}${of}: ${said}${said === '' ? '' : ' '}by ${escapeInvisibleLine(by)} at ${at}`;
  if (comment === null) return head;
  const lines = escapeInvisible(comment).split('\n');
  return lines.length === 1 ? `${head}: ${lines[0]}` : [head, ...lines.map((line) => `  ${line}`)].join('\n');
}

/** `case r1`, and in a matrix `case r1 (small)`. */
export function caseName({ case: id, variant }: Pick<RatingPlace, 'case' | 'variant'>): string {
  const name = `case ${escapeInvisibleLine(id)}`;
  return variant === undefined ? name : `${name} (${escapeInvisibleLine(variant)})`;
}

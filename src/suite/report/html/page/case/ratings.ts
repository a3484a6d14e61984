import type { Rating } from '../../../../rating/rating.ts';
import { foreign, make } from '../dom.ts';
import { instant, score } from '../format.ts';
import { renderText } from './long-text.ts';

/** What people said of the case; nothing where nobody did. */
export function renderRatings(ratings: readonly Rating[]) {
  if (ratings.length === 0) return [];
  const items = ratings.map((rating) =>
    make(
      'li',
      { class: 'rating' },
      make(
        'p',
        { class: 'role' },
        foreign(rating.by, 'row-id'),
        ...(rating.score === null ? [] : [make('span', {}, `score ${score(rating.score)}`)]),
        ...(rating.label === null ? [] : [foreign(rating.label, 'tag')]),
        ...(rating.eval === null ? [] : ['of ', foreign(rating.eval)]),
        make('small', {}, instant(rating.at)),
      ),
      ...(rating.comment === null ? [] : [renderText(rating.comment)]),
    ),
  );
  return [
    make(
      'section',
      { 'aria-label': 'Ratings' },
      make('h3', {}, 'Ratings'),
      make('ol', { class: 'talk' }, ...items),
    ),
  ];
}

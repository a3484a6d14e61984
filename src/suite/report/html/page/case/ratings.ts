import type { Rating } from '../../../../rating/rating.ts';
import type { Data } from '../data.ts';
import { fold, foreign, make } from '../dom.ts';
import { instant, score } from '../format.ts';
import { type Rated, ratingsOf } from '../given-ratings.ts';
import { renderText } from './long-text.ts';
import { makeRateForm } from './rate.ts';
import { sayOf } from './say-of.ts';

/** What people said of the case, and where the page is served the form to say more; nothing where there is neither. */
export function renderRatings(data: Data, rated: Rated) {
  const shown = make('div', {});
  const show = () => shown.replaceChildren(...listOf(ratingsOf(data.ratings, rated), rated));
  show();
  const { served } = data;
  if (served !== null && served.ratings !== null)
    return [shown, foldForm(() => makeRateForm(data, served, rated, show))];
  return shown.childElementCount === 0 ? [] : [shown];
}

/** Made when it is opened: a matrix has many, and then it has the name that was last given in another. */
function foldForm(makeForm: () => HTMLElement) {
  const folded = fold('Your rating', false);
  folded.classList.add('rate');
  folded.addEventListener('toggle', () => {
    if (folded.open && folded.childElementCount === 1) folded.append(makeForm());
  });
  return folded;
}

function listOf(ratings: readonly Rating[], rated: Rated) {
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
      { 'aria-label': sayOf('Ratings', rated) },
      // In a matrix the row is called so.
      ...(rated.variant === undefined ? [make('h3', {}, 'Ratings')] : []),
      make('ol', { class: 'talk' }, ...items),
    ),
  ];
}

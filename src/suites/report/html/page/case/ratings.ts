import { button, type Child, flat, fold, foreign, make } from '../../../../../base/page/dom.ts';
import { instant, score } from '../../../../../base/page/format.ts';
import { renderText } from '../../../../../base/page/text.ts';
import type { Rating } from '../../../../rating/rating.ts';
import { addRating, type Data, isAt, type Place, type Rated, ratingsOf, removeRating } from '../data.ts';
import { type Said, type Sent, sendRating, withdrawRating } from '../server.ts';

export function renderRatings(data: Data, rated: Rated): Child {
  const shown = make('div', {});
  const show = () => shown.replaceChildren(...flat([listOf(ratingsOf(data.ratings, rated), rated)]));
  show();
  const by = data.served?.by ?? null;
  if (by === null) return shown.childElementCount > 0 && shown;
  // Created on opening: a matrix has many forms.
  const folded = fold('Your rating', false);
  folded.classList.add('rate');
  folded.addEventListener('toggle', () => {
    if (folded.open && folded.childElementCount === 1)
      folded.append(makeRateForm(data, { ...rated, by }, show));
  });
  return [shown, folded];
}

function listOf(ratings: readonly Rating[], rated: Rated): Child {
  if (ratings.length === 0) return null;
  const items = ratings.map((rating) =>
    make(
      'li',
      { class: 'rating' },
      make(
        'p',
        { class: 'role' },
        foreign(rating.by, 'row-id'),
        rating.score !== null && make('span', {}, `score ${score(rating.score)}`),
        rating.label !== null && foreign(rating.label, 'tag'),
        rating.eval !== null && ['of ', foreign(rating.eval)],
        make('small', {}, instant(rating.at)),
      ),
      rating.comment !== null && renderText(rating.comment),
    ),
  );
  return make(
    'section',
    { 'aria-label': sayOf('Ratings', rated) },
    rated.variant === undefined && make('h3', {}, 'Ratings'),
    make('ol', { class: 'talk' }, items),
  );
}

function makeRateForm(data: Data, rated: Omit<Place, 'eval'>, onChange: () => void) {
  const of = make('select', {}, make('option', { value: '' }, 'the case as a whole'));
  for (const { id: evalId } of data.header.evals) of.append(make('option', { value: evalId }, evalId));
  const score = make('input', { type: 'number', min: 0, max: 1, step: 'any', inputmode: 'decimal' });
  const label = make('input', { maxlength: 200, autocomplete: 'off' });
  const comment = make('textarea', { maxlength: 10_000, rows: 2 });
  const told = make('p', { class: 'note', role: 'status' });
  const remove = button('Remove', () => void act(withdraw, 'Removed.'));
  const form = make(
    'form',
    { class: 'rate-form', 'aria-label': sayOf('Your rating', rated), submit: (event) => onSubmit(event) },
    make('p', { class: 'note' }, 'You rate as ', foreign(rated.by), '.'),
    field('What', of),
    field('Score, 0 to 1', score),
    field('Label', label),
    field('Comment', comment),
    make('div', { class: 'form-row' }, make('button', { type: 'submit' }, 'Save'), remove, told),
  );

  const place = (): Place => ({ ...rated, eval: of.value === '' ? null : of.value });
  const own = () => ratingsOf(data.ratings, rated).find((each) => isAt(each, place()));
  const fill = () => {
    const known = own();
    score.value = known?.score === null || known === undefined ? '' : String(known.score);
    label.value = known?.label ?? '';
    comment.value = known?.comment ?? '';
    remove.hidden = known === undefined;
  };
  const save = async () => {
    const said: Said = {
      ...(score.value.trim() !== '' && { score: Number(score.value) }),
      ...(label.value.trim() !== '' && { label: label.value }),
      ...(comment.value.trim() !== '' && { comment: comment.value }),
    };
    const sent = await sendRating(place(), said);
    if ('value' in sent) addRating(data.ratings, sent.value);
    return sent;
  };
  const withdraw = async () => {
    const sent = await withdrawRating(place());
    if ('value' in sent) removeRating(data.ratings, place());
    return sent;
  };
  const act = async (work: () => Promise<Sent<unknown>>, done: string) => {
    form.inert = true;
    const sent = await work();
    form.inert = false;
    told.textContent = 'failed' in sent ? sent.failed : done;
    // A failed submission stays in the form.
    if ('failed' in sent) return;
    onChange();
    fill();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void act(save, 'Kept.');
  };
  of.addEventListener('change', fill);
  fill();
  return form;
}

function field(name: string, control: HTMLElement) {
  return make('label', { class: 'rate-field' }, make('span', {}, name), control);
}

function sayOf(part: string, { variant }: Rated) {
  return variant === undefined ? part : `${part} of ${variant}`;
}

import type { Served } from '../../row.ts';
import type { Data } from '../data.ts';
import { button, make } from '../dom.ts';
import { addRating, isAt, type Place, type Rated, ratingsOf, removeRating } from '../given-ratings.ts';
import { keepName, nameOf } from '../name.ts';
import { type Said, type Sent, sendRating, withdrawRating } from '../server.ts';
import { sayOf } from './say-of.ts';

/** The form in which a person says what they think of a case, or of one of its evals. */
export function makeRateForm(data: Data, served: Served, rated: Rated, onChange: () => void) {
  const of = make('select', {}, make('option', { value: '' }, 'the case as a whole'));
  for (const { id: evalId } of data.header.evals) of.append(make('option', { value: evalId }, evalId));
  const by = make('input', { required: true, maxlength: 200, autocomplete: 'off' });
  const score = make('input', { type: 'number', min: 0, max: 1, step: 'any', inputmode: 'decimal' });
  const label = make('input', { maxlength: 200, autocomplete: 'off' });
  const comment = make('textarea', { maxlength: 10_000, rows: 2 });
  const told = make('p', { class: 'note', role: 'status' });
  const remove = button('Remove', () => void act(withdraw, 'Removed.'));
  const form = make(
    'form',
    { class: 'rate-form', 'aria-label': sayOf('Your rating', rated), submit: (event) => onSubmit(event) },
    field('Name', by),
    field('What', of),
    field('Score, 0 to 1', score),
    field('Label', label),
    field('Comment', comment),
    make('div', { class: 'form-row' }, make('button', { type: 'submit' }, 'Save'), remove, told),
  );
  by.value = nameOf(served);

  const place = (): Place => ({ ...rated, eval: of.value === '' ? null : of.value, by: by.value });
  const own = () => ratingsOf(data.ratings, rated).find((each) => isAt(each, place()));
  /** Shows what this person said of that before, to be changed. */
  const fill = () => {
    const known = own();
    score.value = known?.score === null || known === undefined ? '' : String(known.score);
    label.value = known?.label ?? '';
    comment.value = known?.comment ?? '';
    remove.hidden = known === undefined;
  };
  const save = async () => {
    const sent = await sendRating(served, place(), saidIn(score.value, label.value, comment.value));
    if ('value' in sent) addRating(data.ratings, sent.value);
    return sent;
  };
  const withdraw = async () => {
    const sent = await withdrawRating(served, place());
    if ('value' in sent) removeRating(data.ratings, place());
    return sent;
  };
  const act = async (work: () => Promise<Sent<unknown>>, done: string) => {
    keepName(by.value);
    form.inert = true;
    const sent = await work();
    form.inert = false;
    told.textContent = 'failed' in sent ? sent.failed : done;
    // What was not kept stays in the form.
    if ('failed' in sent) return;
    onChange();
    fill();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void act(save, 'Kept.');
  };
  of.addEventListener('change', fill);
  by.addEventListener('change', fill);
  fill();
  return form;
}

function field(name: string, control: HTMLElement) {
  return make('label', { class: 'rate-field' }, make('span', {}, name), control);
}

/** What is left empty is not said. */
function saidIn(score: string, label: string, comment: string): Said {
  return {
    ...(score.trim() === '' ? {} : { score: Number(score) }),
    ...(label.trim() === '' ? {} : { label }),
    ...(comment.trim() === '' ? {} : { comment }),
  };
}

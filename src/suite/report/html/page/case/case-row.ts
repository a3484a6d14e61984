import type { Data, Entry, Outcome } from '../data.ts';
import { foreign, make, unseen } from '../dom.ts';
import { shortScore } from '../format.ts';
import { judgeOf } from '../list/filter.ts';
import type { View } from '../list/view.ts';
import { variantOf } from '../matrix/group.ts';
import { mark, verdictOf } from './mark.ts';

/** One case in the list. */
export function renderCaseRow(data: Data, entry: Entry, view: View) {
  const outcome = judgeOf(data, view)(entry) ?? { ...entry, unscored: false };
  const verdict = verdictOf(outcome.passed, outcome.unscored);
  return make(
    'div',
    { class: 'row', role: 'option', 'data-case': entry.number },
    mark(verdict),
    make(
      'div',
      { class: 'row-text' },
      make(
        'div',
        { class: 'row-name' },
        foreign(entry.id, 'row-id'),
        ...renderTags(entry.tags),
        ...flag(outcome),
      ),
      make('div', { class: 'row-words' }, foreign(entry.why === '' ? entry.text : entry.why)),
    ),
    entry.variants.length === 0 ? renderStrip(data, entry) : renderVariantStrip(data, entry, view),
    make('div', { class: 'row-score' }, unseen('score '), shortScore(outcome.score)),
  );
}

function renderTags(tags: readonly string[]) {
  return tags.slice(0, 6).map((tag) => foreign(tag, 'tag'));
}

function flag({ flaky }: Outcome) {
  return flaky ? [make('span', { class: 'flag' }, 'flaky')] : [];
}

/** What each variant came to, as a strip of small marks. */
function renderVariantStrip(data: Data, { variants }: Entry, view: View) {
  const strip = make('div', { class: 'strip', 'aria-hidden': 'true' });
  const judge = judgeOf(data, view);
  for (const entry of variants) {
    const outcome = judge(entry);
    const verdict = outcome === undefined ? 'none' : verdictOf(outcome.passed, outcome.unscored);
    const name = variantOf(data, entry) ?? '';
    strip.append(make('span', { class: `cell ${verdict}`, title: `${name}: ${verdict}` }));
  }
  return strip;
}

/** The results of the evals as a strip of small marks, where there are several. */
function renderStrip({ header }: Data, { results }: Entry) {
  const strip = make('div', { class: 'strip', 'aria-hidden': 'true' });
  const judges = [...header.evals.entries()].filter(([, { role }]) => role !== 'metric');
  if (judges.length < 2) return strip;
  for (const [place, { id }] of judges.slice(0, 16)) {
    const outcome = results.get(place);
    const verdict = outcome === undefined ? 'none' : verdictOf(outcome.passed, outcome.score === null);
    strip.append(make('span', { class: `cell ${verdict}`, title: `${id}: ${verdict}` }));
  }
  return strip;
}

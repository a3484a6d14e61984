import { foreign, make, unseen } from './dom.js';
import { judgeOf } from './filter.js';
import { shortScore } from './format.js';
import { mark, verdictOf } from './mark.js';

/** @import { Data, Entry, Outcome } from './data.js' */
/** @import { View } from './view.js' */

/**
 * One case in the list.
 * @param {Data} data
 * @param {Entry} entry
 * @param {View} view
 */
export function renderCaseRow(data, entry, view) {
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
    renderStrip(data, entry),
    make('div', { class: 'row-score' }, unseen('score '), shortScore(outcome.score)),
  );
}

/** @param {readonly string[]} tags */
function renderTags(tags) {
  return tags.slice(0, 6).map((tag) => foreign(tag, 'tag'));
}

/** @param {Outcome} outcome */
function flag({ flaky }) {
  return flaky ? [make('span', { class: 'flag' }, 'flaky')] : [];
}

/**
 * The results of the evals as a strip of small marks, where there are several.
 * @param {Data} data
 * @param {Entry} entry
 */
function renderStrip({ header }, { results }) {
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

import { readDetail } from './data.js';
import { button, foreign, make } from './dom.js';
import { renderEpoch } from './epoch.js';
import { hasUnscored } from './filter.js';
import { count, score } from './format.js';
import { mark, pill, verdictOf } from './mark.js';

/** @import { CaseRecord } from '../../../run/record.ts' */
/** @import { Data, Entry } from './data.js' */

/**
 * The case that is open: beside the list, or over all of a narrow screen.
 * @param {Data} data
 * @param {{ readonly close: () => void, readonly step: (by: number) => void }} actions
 */
export function makeDetail(data, { close, step }) {
  const title = make('h2', { id: 'case-title', tabindex: -1 });
  const body = make('div', { class: 'panel-body' });
  const head = make(
    'header',
    { class: 'panel-head' },
    title,
    button('‹', () => step(-1), { class: 'icon', 'aria-label': 'Previous case', title: 'Previous case (k)' }),
    button('›', () => step(1), { class: 'icon', 'aria-label': 'Next case', title: 'Next case (j)' }),
    button('×', close, { class: 'icon', 'aria-label': 'Close', title: 'Close (Escape)' }),
  );
  const element = make(
    'aside',
    { class: 'panel', role: 'dialog', 'aria-labelledby': 'case-title', hidden: true },
    head,
    body,
  );
  /** @type {Entry | null} */
  let shown = null;
  return {
    element,
    /** @param {Entry | null} entry */
    show(entry) {
      if (entry === shown) return;
      const isNew = shown === null && entry !== null;
      shown = entry;
      element.hidden = entry === null;
      document.documentElement.classList.toggle('has-panel', entry !== null);
      body.replaceChildren();
      if (entry === null) return;
      const record = readDetail(entry);
      title.replaceChildren(foreign(record?.id ?? entry.id));
      body.append(...renderCase(data, entry, record));
      element.scrollTop = 0;
      if (isNew) title.focus({ preventScroll: true });
    },
  };
}

/**
 * @param {Data} data
 * @param {Entry} entry
 * @param {CaseRecord | null} record
 */
function renderCase(data, entry, record) {
  const facts = make(
    'p',
    { class: 'case-facts' },
    pill(verdictOf(entry.passed, hasUnscored(entry))),
    ...(entry.score === null ? [] : [make('span', {}, `score ${score(entry.score)}`)]),
    ...(entry.flaky ? [make('span', { class: 'flag' }, 'flaky')] : []),
    ...(record?.tags ?? entry.tags).map((tag) => foreign(tag, 'tag')),
  );
  if (record === null) return [facts, missingDetail()];
  const place = make(
    'p',
    { class: 'place' },
    foreign(`${record.file}:${record.line}`),
    ` · row ${count(record.number)}`,
  );
  return [
    facts,
    place,
    ...(record.epochs.length > 1 ? renderEpochs(data, record) : renderOnly(data, record)),
  ];
}

function missingDetail() {
  return make('p', { class: 'note' }, 'The details of this case were left out to keep the page small.');
}

/**
 * @param {Data} data
 * @param {CaseRecord} record
 */
function renderOnly(data, { epochs }) {
  const [only] = epochs;
  return only === undefined ? [] : [renderEpoch(data, only)];
}

/**
 * Several runs of the case: what they came to together, and one of them at a time.
 * @param {Data} data
 * @param {CaseRecord} record
 */
function renderEpochs(data, record) {
  const shown = make('div', { class: 'epoch-shown' });
  const choose = (/** @type {number} */ index) => {
    const epoch = record.epochs[index];
    if (epoch !== undefined) shown.replaceChildren(renderEpoch(data, epoch));
    for (const [other, tab] of tabs.entries()) tab.setAttribute('aria-pressed', String(other === index));
  };
  const tabs = record.epochs.map(({ epoch, results }, index) => {
    const passed = results.every((result) => result.passed || isMetric(data, result.eval));
    const unscored = results.some((result) => result.score === null);
    const tab = button('', () => choose(index), { class: 'chip epoch' });
    tab.append(mark(verdictOf(passed, unscored)), `Epoch ${epoch}`);
    return tab;
  });
  const firstFailed = record.epochs.findIndex(({ results }) => results.some((result) => !result.passed));
  choose(Math.max(0, firstFailed));
  const group = make('div', { class: 'chips', role: 'group', 'aria-label': 'Epochs' }, ...tabs);
  return [renderReduced(data, record), group, shown];
}

/**
 * @param {Data} data
 * @param {string} id
 */
function isMetric({ header }, id) {
  return header.evals.some((known) => known.id === id && known.role === 'metric');
}

/**
 * @param {Data} data
 * @param {CaseRecord} record
 */
function renderReduced({ header }, { results, epochs }) {
  const rows = results.map((result) => {
    const reducer = header.evals.find(({ id }) => id === result.eval)?.reducer ?? '';
    return make(
      'tr',
      {},
      make(
        'th',
        { scope: 'row' },
        mark(verdictOf(result.passed, result.score === null)),
        foreign(result.eval),
      ),
      make('td', {}, `${score(result.score)} `, make('small', {}, reducer)),
      make('td', {}, `${result.passed_epochs} of ${epochs.length}`),
    );
  });
  const head = ['Eval', 'Score', 'Epochs passed'].map((name) => make('th', { scope: 'col' }, name));
  return make(
    'table',
    { class: 'figures' },
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows),
  );
}

import type { CaseRecord } from '../../../../run/record.ts';
import type { Data, Detail, Entry } from '../data.ts';
import { readDetail } from '../data.ts';
import { button, foreign, make } from '../dom.ts';
import { count, score } from '../format.ts';
import { hasUnscored } from '../list/filter.ts';
import { renderSideBySide } from '../matrix/side-by-side.ts';
import { renderEpoch } from './epoch.ts';
import { mark, pill, verdictOf } from './mark.ts';
import { renderRatings } from './ratings.ts';
import { renderRow } from './row-fields.ts';

/** The case that is open: beside the list, or over all of a narrow screen. */
export function makeDetail(
  data: Data,
  { close, step }: { readonly close: () => void; readonly step: (by: number) => void },
) {
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
  let shown: Entry | null = null;
  return {
    element,
    show(entry: Entry | null) {
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

function renderCase(data: Data, entry: Entry, record: Detail | null) {
  if (entry.variants.length > 0) {
    return [
      make('p', { class: 'case-facts' }, ...entry.tags.map((tag) => foreign(tag, 'tag'))),
      ...renderSideBySide(data, entry),
    ];
  }
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
    ...renderRatings(data.ratings.get(record.id) ?? []),
    ...renderRow(record),
    ...(record.epochs.length > 1 ? renderEpochs(data, record) : renderOnly(data, record)),
  ];
}

function missingDetail() {
  return make('p', { class: 'note' }, 'The details of this case were left out to keep the page small.');
}

function renderOnly(data: Data, { epochs }: CaseRecord) {
  const [only] = epochs;
  return only === undefined ? [] : [renderEpoch(data, only)];
}

/** Several runs of the case: what they came to together, and one of them at a time. */
function renderEpochs(data: Data, record: CaseRecord) {
  const shown = make('div', { class: 'epoch-shown' });
  const choose = (index: number) => {
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

function isMetric({ header }: Data, id: string) {
  return header.evals.some((known) => known.id === id && known.role === 'metric');
}

function renderReduced({ header }: Data, { results, epochs }: CaseRecord) {
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

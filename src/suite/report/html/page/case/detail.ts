import type { CaseRecord } from '../../../../run/record.ts';
import type { Data, Detail, Entry } from '../data.ts';
import { readDetail } from '../data.ts';
import { button, foreign, make } from '../dom.ts';
import { count, score } from '../format.ts';
import { hasUnscored } from '../list/filter.ts';
import { renderSideBySide } from '../matrix/side-by-side.ts';
import { loadDetails } from '../server.ts';
import { renderEpoch } from './epoch.ts';
import { renderEpochs } from './epochs.ts';
import { pill, verdictOf } from './mark.ts';
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
      const render = () => {
        const record = readDetail(entry);
        title.replaceChildren(foreign(record?.id ?? entry.id));
        body.replaceChildren(...renderCase(data, entry, record));
      };
      render();
      fillIn(data, entry, (failed) => {
        if (shown !== entry) return;
        render();
        if (failed !== null) body.append(make('p', { class: 'note' }, failed));
      });
      element.scrollTop = 0;
      if (isNew) title.focus({ preventScroll: true });
    },
  };
}

/** Asks for details that the page lacks, where it is served. */
function fillIn({ served, header }: Data, entry: Entry, then: (failed: string | null) => void) {
  const all = entry.variants.length === 0 ? [entry] : entry.variants;
  const missing = all.filter(({ detail }) => detail === null);
  if (served === null || missing.length === 0) return;
  const variants = (header.variants ?? []).map(({ name }) => name);
  void loadDetails(served, missing, variants).then((sent) => then('failed' in sent ? sent.failed : null));
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
    ...(record.epochs.length > 1 ? renderEpochs(data, record) : renderOnly(data, record)),
    ...renderRow(record),
    ...renderRatings(data, { case: record.id }),
  ];
}

function missingDetail() {
  return make('p', { class: 'note' }, 'The details of this case were left out to keep the page small.');
}

function renderOnly(data: Data, { epochs }: CaseRecord) {
  const [only] = epochs;
  return only === undefined ? [] : [renderEpoch(data, only)];
}

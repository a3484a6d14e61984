import type { CaseRecord } from '../../../../record.ts';
import { type Data, type Detail, type Entry, type Outcome, readDetail } from '../data.ts';
import { button, foreign, make, unseen } from '../dom.ts';
import { count, score, shortScore } from '../format.ts';
import { hasUnscored, judgeOf, type View } from '../list/view.ts';
import { variantOf } from '../matrix/group.ts';
import { renderSideBySide } from '../matrix/side-by-side.ts';
import { loadDetails } from '../server.ts';
import { renderEpoch, renderEpochs, renderRow } from './epoch.ts';
import { renderRatings } from './ratings.ts';
import { mark, pill, verdictOf } from './text.ts';

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

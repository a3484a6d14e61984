import { button, type Child, flat, foreign, make, note, unseen } from '../../../../../base/page/dom.ts';
import { count, score, shortScore } from '../../../../../base/page/format.ts';
import { mark, pill, verdictOf } from '../../../../../base/page/text.ts';
import { type Data, type Detail, type Entry, readDetail } from '../data.ts';
import { hasUnscored, judgeOf, type View } from '../list/view.ts';
import { variantOf } from '../matrix/group.ts';
import { renderSideBySide } from '../matrix/side-by-side.ts';
import { loadDetails } from '../server.ts';
import { renderEpoch, renderEpochs, renderRow } from './epoch.ts';
import { renderRatings } from './ratings.ts';

/** The open case: beside the list, or over the whole page on a narrow screen. */
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
    'div',
    { class: 'panel', role: 'dialog', 'aria-labelledby': 'case-title', hidden: true },
    head,
    body,
  );
  let shown: Entry | null = null;
  return {
    element,
    isShown: () => shown !== null,
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
        body.replaceChildren(...flat([renderCase(data, entry, record)]));
      };
      render();
      fillIn(data, entry, (failed) => {
        if (shown !== entry) return;
        render();
        if (failed !== null) body.append(note(failed));
      });
      element.scrollTop = 0;
      if (isNew) title.focus({ preventScroll: true });
    },
  };
}

function fillIn({ served, header }: Data, entry: Entry, then: (failed: string | null) => void) {
  const all = entry.variants.length === 0 ? [entry] : entry.variants;
  const missing = all.filter(({ detail }) => detail === null);
  if (served === null || missing.length === 0) return;
  const variants = (header.variants ?? []).map(({ name }) => name);
  void loadDetails(missing, variants).then((sent) => then('failed' in sent ? sent.failed : null));
}

function renderCase(data: Data, entry: Entry, record: Detail | null): Child {
  const tags = (record?.tags ?? entry.tags).map((tag) => foreign(tag, 'tag'));
  if (entry.variants.length > 0)
    return [make('p', { class: 'case-facts' }, tags), renderSideBySide(data, entry)];
  const facts = make(
    'p',
    { class: 'case-facts' },
    pill(verdictOf(entry.passed, hasUnscored(entry))),
    entry.score !== null && make('span', {}, `score ${score(entry.score)}`),
    entry.flaky && make('span', { class: 'flag' }, 'flaky'),
    tags,
  );
  if (record === null) return [facts, note('The details of this case were left out to keep the page small.')];
  const [only, another] = record.epochs;
  return [
    facts,
    make('p', { class: 'place' }, foreign(`${record.file}:${record.line}`), ` · row ${count(record.number)}`),
    another !== undefined ? renderEpochs(data, record) : only !== undefined && renderEpoch(data, only),
    renderRow(record),
    renderRatings(data, { case: record.id }),
  ];
}

export function renderCaseRow(data: Data, entry: Entry, view: View) {
  const {
    passed,
    unscored,
    flaky,
    score: value,
  } = judgeOf(data, view)(entry) ?? { ...entry, unscored: false };
  const name = make(
    'div',
    { class: 'row-name' },
    foreign(entry.id, 'row-id'),
    entry.tags.slice(0, 6).map((tag) => foreign(tag, 'tag')),
    flaky && make('span', { class: 'flag' }, 'flaky'),
  );
  const words = make('div', { class: 'row-words' }, foreign(entry.why === '' ? entry.text : entry.why));
  return make(
    'div',
    { class: 'row', role: 'option', 'data-case': entry.number },
    mark(verdictOf(passed, unscored)),
    make('div', { class: 'row-text' }, name, words),
    make('div', { class: 'strip', 'aria-hidden': 'true' }, stripOf(data, entry, view)),
    make('div', { class: 'row-score' }, unseen('score '), shortScore(value)),
  );
}

function stripOf(data: Data, { variants, results }: Entry, view: View): Child {
  const cell = (
    name: string,
    judged: { readonly passed: boolean; readonly unscored: boolean } | undefined,
  ) => {
    const verdict = judged === undefined ? 'none' : verdictOf(judged.passed, judged.unscored);
    return make('span', { class: `cell ${verdict}`, title: `${name}: ${verdict}` });
  };
  const judge = judgeOf(data, view);
  if (variants.length > 0) return variants.map((entry) => cell(variantOf(data, entry) ?? '', judge(entry)));
  const judges = [...data.header.evals.entries()].filter(([, { role }]) => role !== 'metric');
  if (judges.length < 2) return null;
  return judges.slice(0, 16).map(([place, { id }]) => {
    const outcome = results.get(place);
    return cell(id, outcome && { passed: outcome.passed, unscored: outcome.score === null });
  });
}

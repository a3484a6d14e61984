import { renderCaseRow } from '../case/case-row.ts';
import { makeDetail } from '../case/detail.ts';
import type { Data, Entry } from '../data.ts';
import { make } from '../dom.ts';
import { count } from '../format.ts';
import { makeExport } from './export.ts';
import { filterEntries } from './filter.ts';
import { makeList } from './list.ts';
import { search } from './search.ts';
import { makeToolbar } from './toolbar.ts';
import type { View } from './view.ts';
import { viewFromHash, viewToHash } from './view.ts';

/** Rows that are printed; a list of many thousands is not read on paper. */
const PRINTED_ROWS = 200;

/** The list of cases with its filters, and the case that is open. The address holds what is shown. */
export function makeExplorer(data: Data) {
  let view = viewFromHash(location.hash);
  let found: readonly Entry[] = [];
  let active = -1;
  let stopSearch = () => {};

  const list = makeList('Cases', (entry: Entry) => renderCaseRow(data, entry, view));
  const toolbar = makeToolbar(data, (part) => change({ ...part, open: view.open }));
  const detail = makeDetail(data, { close: () => open(null), step: (by) => step(by) });
  const nothing = make(
    'p',
    { class: 'nothing' },
    data.entries.length === 0 ? 'No case was run.' : 'No case fits.',
  );

  const showFound = (entries: readonly Entry[], isDone: boolean) => {
    found = entries;
    active = found.findIndex(({ number }) => number === view.open);
    list.show(found, active);
    nothing.hidden = !isDone || found.length > 0;
    toolbar.found.textContent = sayFound(found.length, data.entries.length, isDone);
  };
  const update = () => {
    stopSearch();
    toolbar.show(view);
    const entries = filterEntries(data, view);
    if (view.query === '') showFound(entries, true);
    else stopSearch = search(entries, view.query, showFound);
  };
  const change = (part: Partial<View>) => {
    view = { ...view, ...part };
    history.replaceState(null, '', `#${viewToHash(view)}`);
    update();
  };
  const showOpen = () => {
    const entry = data.entries.find(({ number }) => number === view.open);
    detail.show(entry ?? null);
    active = found.findIndex(({ number }) => number === view.open);
    list.refresh();
    if (active >= 0) list.activate(active);
  };
  /** Opening a case makes a step in the history, so that going back closes it; moving on from it does not. */
  const open = (number: number | null) => {
    const isStep = view.open === null && number !== null;
    view = { ...view, open: number };
    history[isStep ? 'pushState' : 'replaceState'](null, '', `#${viewToHash(view)}`);
    showOpen();
    if (number === null) list.element.focus({ preventScroll: true });
  };
  const step = (by: number) => {
    if (found.length === 0) return;
    active = Math.min(Math.max(active + by, 0), found.length - 1);
    list.activate(active);
    if (view.open !== null) open(found[active]?.number ?? null);
  };
  const openActive = () => open(found[active]?.number ?? view.open);

  list.element.addEventListener('click', (event) => {
    const row = event.target instanceof Element ? event.target.closest('[data-case]') : null;
    if (row instanceof HTMLElement) open(Number(row.dataset['case']));
  });
  window.addEventListener('popstate', () => {
    view = viewFromHash(location.hash);
    update();
    showOpen();
  });
  const printed = make('p', { class: 'printed note' });
  printWhole(list, () => {
    printed.textContent = sayPrinted(found.length, data.entries.length);
  });
  const main = make(
    'section',
    { class: 'cases', 'aria-label': 'Cases' },
    make('h2', {}, 'Cases'),
    printed,
    toolbar.element,
    makeExport(data, () => found),
    nothing,
    list.element,
  );
  return {
    main,
    panel: detail.element,
    start() {
      update();
      // Whoever follows an address with a filter comes for the cases.
      if (viewToHash(view) !== '') main.scrollIntoView();
      showOpen();
    },
    change,
    step,
    openActive,
    focusSearch: () => toolbar.query.focus(),
    focusList: () => list.element.focus({ preventScroll: true }),
    isOpen: () => view.open !== null,
    close: () => open(null),
  };
}

function sayFound(found: number, all: number, isDone: boolean) {
  const share = found === all ? `${count(all)} cases` : `${count(found)} of ${count(all)} cases`;
  return isDone ? share : `${share}, searching …`;
}

/** The text that is printed in place of the filters. */
function sayPrinted(found: number, all: number) {
  const share = sayFound(found, all, true);
  return found > PRINTED_ROWS ? `${share}, of which the first ${count(PRINTED_ROWS)} are printed` : share;
}

/** Before printing, renders the first rows and opens everything folded; undoes that afterwards. */
function printWhole(list: import('./list.ts').List<Entry>, say: () => void) {
  let restore = () => {};
  window.addEventListener('beforeprint', () => {
    restore();
    say();
    const rollUp = list.unroll(PRINTED_ROWS);
    const folded: NodeListOf<HTMLDetailsElement> = document.querySelectorAll('details:not([open])');
    for (const part of folded) part.open = true;
    restore = () => {
      restore = () => {};
      for (const part of folded) part.open = false;
      rollUp();
    };
  });
  window.addEventListener('afterprint', () => restore());
}

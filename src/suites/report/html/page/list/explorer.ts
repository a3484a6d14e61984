import { make } from '../../../../../base/page/dom.ts';
import { count } from '../../../../../base/page/format.ts';
import { makeDetail, renderCaseRow } from '../case/detail.ts';
import { type Data, type Entry, readDetail } from '../data.ts';
import { loadAllDetails } from '../server.ts';
import { makeExport, makeToolbar } from './toolbar.ts';
import { filterEntries, type View, viewFromHash, viewToHash } from './view.ts';

const PRINTED_ROWS = 200;

/** The filtered list and the open case. The URL hash holds the view. */
export function makeExplorer(data: Data) {
  let view = viewFromHash(location.hash);
  let found: readonly Entry[] = [];
  let active = -1;
  let stopSearch = () => {};
  let hasAllDetails = false;
  let sought = new URLSearchParams(location.search).get('case');

  const list = makeList('Cases', (entry: Entry) => renderCaseRow(data, entry, view));
  const toolbar = makeToolbar(data, (part) => change({ ...part, open: view.open }));
  const detail = makeDetail(data, { close: () => open(null), step: (by) => step(by) });
  const nothing = make(
    'p',
    { class: 'nothing' },
    data.entries.length === 0 ? 'No case ran.' : 'No case matches.',
  );

  const showFound = (entries: readonly Entry[], isDone: boolean, isMore = false) => {
    found = entries;
    active = found.findIndex(({ number }) => number === view.open);
    list.show(found, active, isMore);
    nothing.hidden = !isDone || found.length > 0;
    const what = isDone ? (data.isLoading ? 'loading' : '') : 'searching';
    const listed = data.entries.length;
    // In a matrix, a case of the report is a row with one variant.
    const expected = (data.report?.cases ?? 0) / (data.header.variants?.length ?? 1);
    const all = data.isLoading ? Math.max(expected, listed) : listed;
    toolbar.found.textContent = sayFound(found.length, all, what);
    // A count that grows is not read out.
    toolbar.found.setAttribute('aria-live', data.isLoading ? 'off' : 'polite');
  };
  const update = (isMore = false) => {
    stopSearch();
    toolbar.show(view);
    const entries = filterEntries(data, view);
    if (view.query === '') showFound(entries, true, isMore);
    else stopSearch = search(entries, view.query, showFound);
  };
  /** Searches again once the whole texts are there, which a served page loads when they are needed. */
  const searchDetails = async () => {
    const { query } = view;
    if (query === '' || data.served === null || data.isLoading) return;
    const sent = await loadAllDetails(data);
    if (view.query === query && !hasAllDetails && !('failed' in sent)) update();
    hasAllDetails ||= !('failed' in sent);
  };
  const change = (part: Partial<View>) => {
    view = { ...view, ...part };
    history.replaceState(null, '', `#${viewToHash(view)}`);
    update();
    void searchDetails();
  };
  const showOpen = () => {
    const entry = data.entries.find(({ number }) => number === view.open);
    detail.show(entry ?? null);
    active = found.findIndex(({ number }) => number === view.open);
    list.refresh();
    if (active >= 0) list.activate(active);
  };
  /** Opening a case adds a history entry, so that Back closes it. Moving to another case does not. */
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
  /** Opens the case whose ID the address has. */
  const showSought = () => {
    const entry = sought === null ? undefined : data.entries.find(({ id }) => id === sought);
    if (entry !== undefined) {
      sought = null;
      view = { ...view, open: entry.number };
      history.replaceState(null, '', `${location.pathname}#${viewToHash(view)}`);
    }
    showOpen();
  };
  return {
    main,
    panel: detail.element,
    start() {
      update();
      if (viewToHash(view) !== '') main.scrollIntoView();
      showSought();
    },
    /** More cases were loaded. */
    grow() {
      if (view.query !== '' && data.isLoading) return;
      const current = found[active];
      toolbar.grow();
      update(true);
      if (active === -1 && current !== undefined) active = found.indexOf(current);
      list.activate(active, false);
      if (!detail.isShown()) showSought();
      if (!data.isLoading) void searchDetails();
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

function sayFound(found: number, all: number, what = '') {
  const share = found === all ? `${count(all)} cases` : `${count(found)} of ${count(all)} cases`;
  return what === '' ? share : `${share}, ${what} …`;
}

function sayPrinted(found: number, all: number) {
  const share = sayFound(found, all);
  return found > PRINTED_ROWS ? `${share}, of which the first ${count(PRINTED_ROWS)} are printed` : share;
}

function printWhole(list: List<Entry>, say: () => void) {
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

/** A virtual list that scrolls with the page. */
interface List<Item> {
  element: HTMLElement;
  /** `isMore`: rows of the same items stay as they are, so that a click on one is not lost. */
  show: (items: readonly Item[], active: number, isMore: boolean) => void;
  activate: (active: number, isSeen?: boolean) => void;
  refresh: () => void;
  /** Renders up to `most` rows regardless of visibility; the returned function undoes it. */
  unroll: (most: number) => () => void;
}

/** Extra rows above and below the window, for short scrolls. */
const MARGIN = 8;

/** Browsers limit the height of an element. Filters reach the remaining rows. */
const MOST_ROWS = 200_000;

function makeList<Item>(label: string, renderRow: (item: Item, index: number) => HTMLElement): List<Item> {
  const element = make('div', {
    class: 'list',
    role: 'listbox',
    tabindex: 0,
    'aria-label': label,
    id: 'cases',
  });
  let items: readonly Item[] = [];
  const shown: Map<number, HTMLElement> = new Map();
  let active = -1;
  let height = 1;

  const place = (index: number) => {
    const item = items[index];
    if (item === undefined) return;
    const row = renderRow(item, index);
    row.id = `row-${index}`;
    row.setAttribute('aria-posinset', String(index + 1));
    row.setAttribute('aria-setsize', String(items.length));
    row.style.transform = `translateY(${index * height}px)`;
    shown.set(index, row);
    element.append(row);
  };
  const keep = (first: number, last: number) => {
    for (const [index, row] of shown) {
      if (index >= first && index <= last) continue;
      row.remove();
      shown.delete(index);
    }
    for (let index = first; index <= last; index += 1) if (!shown.has(index)) place(index);
    mark();
  };
  const mark = () => {
    for (const [index, row] of shown) row.setAttribute('aria-selected', String(index === active));
    if (shown.has(active)) element.setAttribute('aria-activedescendant', `row-${active}`);
    else element.removeAttribute('aria-activedescendant');
  };
  const refresh = () => {
    const top = element.getBoundingClientRect().top;
    const first = Math.floor(-top / height) - MARGIN;
    const last = Math.ceil((window.innerHeight - top) / height) + MARGIN;
    keep(Math.max(0, first), Math.min(items.length - 1, last));
  };
  const measure = () => {
    height = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row')) || 64;
    element.style.height = `${items.length * height}px`;
  };
  const rebuild = () => {
    keep(0, -1);
    measure();
    refresh();
  };

  window.addEventListener('scroll', () => refresh(), { passive: true });
  window.addEventListener('resize', () => rebuild());
  return {
    element,
    show(newItems, newActive, isMore) {
      const old = items;
      items = newItems.slice(0, MOST_ROWS);
      active = newActive;
      if (!isMore) return rebuild();
      for (const [index, row] of shown) {
        row.setAttribute('aria-setsize', String(items.length));
        if (items[index] === old[index]) continue;
        row.remove();
        shown.delete(index);
      }
      measure();
      refresh();
    },
    activate(newActive, isSeen = true) {
      active = newActive;
      if (active >= 0 && isSeen) scrollTo(element, active * height, height);
      refresh();
    },
    refresh,
    unroll(most) {
      keep(0, Math.min(items.length, most) - 1);
      return rebuild;
    },
  };
}

function scrollTo(element: HTMLElement, offset: number, height: number) {
  const covered = document.querySelector('.toolbar')?.getBoundingClientRect().height ?? 0;
  const top = element.getBoundingClientRect().top + offset;
  if (top < covered) window.scrollBy({ top: top - covered - height });
  else if (top + height > window.innerHeight) window.scrollBy({ top: top + 2 * height - window.innerHeight });
}

/** Milliseconds of work before yielding to the browser. */
const SLICE = 12;

/** Milliseconds between partial results. Rendering them costs more than searching. */
const NEWS = 150;

/**
 * Searches ids, tags and texts, ignoring case. Calls `onFound` repeatedly with all results so far and whether the
 * search is complete. Returns a function that stops it.
 */
function search(
  entries: readonly Entry[],
  query: string,
  onFound: (found: readonly Entry[], isDone: boolean) => void,
): () => void {
  const matches = matcherOf(query);
  const found: Entry[] = [];
  let next = 0;
  let timer = 0;
  let told = performance.now();
  const work = () => {
    const end = performance.now() + SLICE;
    while (next < entries.length && performance.now() < end) {
      const entry = entries[next];
      next += 1;
      if (entry !== undefined && matches(entry)) found.push(entry);
    }
    const isDone = next >= entries.length;
    if (!isDone) timer = window.setTimeout(work);
    if (!isDone && performance.now() < told + NEWS) return;
    told = performance.now();
    onFound(found, isDone);
  };
  work();
  return () => clearTimeout(timer);
}

function matcherOf(query: string): (entry: Entry) => boolean {
  const wanted = query.toLowerCase();
  // Searching the JSON is much cheaper than parsing it.
  const inJson = JSON.stringify(wanted).slice(1, -1).replaceAll('<', '\\u003c');
  const has = (text: string) => text.toLowerCase().includes(wanted);
  const matches = (entry: Entry): boolean => {
    if (entry.variants.some(matches)) return true;
    if (has(entry.id) || entry.tags.some(has) || has(entry.text) || has(entry.why)) return true;
    if (entry.detail === null || !entry.detail.toLowerCase().includes(inJson)) return false;
    return textsOf(readDetail(entry)).some(has);
  };
  return matches;
}

/** Members whose values belong to the format, not to the case. */
const ownWords = new Set(['role', 'eval', 'status', 'file', 'hook', 'phase', 'verdict']);

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (ownWords.has(key) ? [] : textsOf(member)));
}

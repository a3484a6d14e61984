import { button, type Child, factList, flat, foreign, make } from '../../base/page/dom.ts';
import { describe } from './api.ts';
import { renderTree } from './inbox/json-tree.ts';
import type { Address, Page } from './section.ts';

interface Loaded<Item> {
  readonly items: readonly Item[];
  readonly next?: string | undefined;
}

interface ListOptions<Item> {
  /** Gets the rows, such as a `tbody`. */
  readonly body: HTMLElement;
  load(page: {
    readonly after?: string;
    readonly limit: number;
    readonly signal: AbortSignal;
  }): Promise<Loaded<Item>>;
  keyOf(item: Item): string;
  /** `after` is the cursor of the page that has the item. */
  render(item: Item, after: string | undefined): HTMLElement;
  /** New items are at the top, or at the end, where they are appended. */
  readonly newest: 'first' | 'last';
  readonly empty: () => Child;
}

interface Row {
  /** The item as JSON. */
  readonly text: string;
  readonly element: HTMLElement;
}

/** A list whose pages load as its end comes into view. */
export function makeList<Item>({ body, load, keyOf, render, newest, empty }: ListOptions<Item>) {
  const rows = new Map<string, Row>();
  const foot = make('div', { class: 'list-foot', role: 'status' });
  let loading = new AbortController();
  let queue = Promise.resolve();
  let isRefreshDue = false;
  let next: string | undefined;
  /** The cursor of the page that was loaded last. */
  let last: string | undefined;

  const toRow = (item: Item, after: string | undefined): Row => {
    const text = JSON.stringify(item);
    const known = rows.get(keyOf(item));
    // A row that did not change keeps its focus, and stays open.
    return known?.text === text ? known : { text, element: render(item, after) };
  };
  /** Rows are in groups, so that the browser lays out what is in view in a time that many rows do not change. */
  const append = (items: readonly Item[], after: string | undefined) => {
    for (const item of items) {
      const known = rows.get(keyOf(item));
      const row = toRow(item, after);
      if (newest === 'last' && rows.size % GROUP === 0 && known === undefined)
        body.append(make('div', { class: 'group' }));
      const group = newest === 'last' ? (body.lastElementChild ?? body) : body;
      if (known === undefined) group.append(row.element);
      else if (known !== row) replaceRow(known.element, row.element);
      rows.set(keyOf(item), row);
    }
  };
  /** Rows after `kept` stay as they are. */
  const replaceAll = (items: readonly Item[], kept: readonly (readonly [string, Row])[]) => {
    const wanted = new Map([...items.map((item) => [keyOf(item), toRow(item, undefined)] as const), ...kept]);
    for (const [key, { element }] of rows) {
      const fresh = wanted.get(key)?.element;
      if (fresh === undefined) element.remove();
      else if (fresh !== element) replaceRow(element, fresh);
    }
    rows.clear();
    let place = body.firstElementChild;
    for (const [key, row] of wanted) {
      rows.set(key, row);
      if (row.element === place) place = place.nextElementSibling;
      else body.insertBefore(row.element, place);
    }
  };
  const run = (task: (signal: AbortSignal) => Promise<void>) => {
    const { signal } = loading;
    queue = queue.then(async () => {
      // Only a new observation reports an end that is still in view.
      observer.unobserve(foot);
      try {
        if (!signal.aborted) await task(signal);
        if (signal.aborted) return;
        const isEmpty = rows.size === 0 && next === undefined;
        foot.replaceChildren(
          ...flat([isEmpty && empty(), next !== undefined && button('More', () => void more())]),
        );
        if (next !== undefined) observer.observe(foot);
      } catch (error) {
        if (signal.aborted) return;
        foot.replaceChildren(
          make('p', { class: 'bad' }, describe(error)),
          button('Try again', () => void more()),
        );
      }
    });
    return queue;
  };
  const more = () =>
    run(async (signal) => {
      const after = next;
      const page = await load({
        ...(after !== undefined && { after }),
        limit: rows.size === 0 ? FIRST : MORE,
        signal,
      });
      if (signal.aborted) return;
      last = after;
      next = page.next;
      append(page.items, after);
    });
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.unobserve(foot);
      void more();
    },
    { rootMargin: '800px' },
  );
  const refreshNow = async (signal: AbortSignal) => {
    isRefreshDue = false;
    if (newest === 'last' && next !== undefined) return;
    const limit = newest === 'last' ? MORE : Math.min(Math.max(FIRST, rows.size), MOST);
    const after = newest === 'last' ? last : undefined;
    const page = await load({ ...(after !== undefined && { after }), limit, signal });
    if (signal.aborted) return;
    const end = page.items.at(-1);
    const old = [...rows];
    const at = end && rows.size > MOST ? old.findIndex(([key]) => key === keyOf(end)) : -1;
    if (newest === 'last') append(page.items, after);
    else replaceAll(page.items, at < 0 ? [] : old.slice(at + 1));
    if (at < 0) next = page.next;
  };
  return {
    foot,
    /** Loads the list from its start. */
    reset: async () => {
      loading.abort();
      loading = new AbortController();
      isRefreshDue = false;
      next = undefined;
      rows.clear();
      body.replaceChildren();
      foot.replaceChildren('Loading …');
      await more();
    },
    /** Loads what may have changed of the part that is shown. */
    refresh: async () => {
      if (isRefreshDue) return;
      isRefreshDue = true;
      await run(refreshNow);
    },
    close: () => {
      loading.abort();
      observer.disconnect();
    },
  };
}

/** Items of the first page, of the pages after it, and of what is refreshed. */
const FIRST = 100;
const MORE = 500;
const MOST = 1_000;
const GROUP = 200;

function replaceRow(old: HTMLElement, fresh: HTMLElement) {
  const hadFocus = old.contains(document.activeElement);
  if (old instanceof HTMLDetailsElement && fresh instanceof HTMLDetailsElement) fresh.open = old.open;
  old.replaceWith(fresh);
  if (hadFocus) (fresh.matches(ROW) ? fresh : fresh.querySelector<HTMLElement>(ROW))?.focus();
}

/** What has the focus of a row. */
const ROW = '[data-row]';

/** `j` and `k` move the focus from row to row. Returns whether the key was one of these. */
export function moveFocus(main: HTMLElement, { key }: KeyboardEvent) {
  if (key !== 'j' && key !== 'k') return false;
  const item = document.activeElement?.closest('.item');
  const beside = key === 'j' ? item?.nextElementSibling : item?.previousElementSibling;
  const rows = () => [...main.querySelectorAll<HTMLElement>(ROW)];
  const place = () => rows().findIndex((row) => item?.contains(row));
  // Only at the ends of a list, and beside gaps, all rows are looked at.
  const target =
    beside?.querySelector<HTMLElement>(ROW) ?? rows()[item ? place() + (key === 'j' ? 1 : -1) : 0];
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
  return true;
}

/** A line that opens. Its content is made when it opens, and removed when it closes. */
export function makeItem(line: HTMLElement, kind: string, load: () => Child | Promise<Child>) {
  const body = make('div', { class: 'item-body' });
  const item = make('details', { class: kind }, line, body);
  item.addEventListener('toggle', async () => {
    if (!item.open) return body.replaceChildren();
    try {
      body.replaceChildren(...flat([await load()]));
    } catch (error) {
      body.replaceChildren(make('p', { class: 'bad', role: 'alert' }, describe(error)));
    }
  });
  return item;
}

/** The members of a document: short ones side by side, then those that have members themselves. */
export function renderMembers(document: object): Child {
  const members = Object.entries(document).filter(([, value]) => value !== null && value !== '');
  const nested = members.filter(([, value]) => typeof value === 'object');
  const facts = members.filter(([, value]) => typeof value !== 'object');
  return [
    factList(facts.map(([name, value]) => [name.replaceAll('_', ' '), foreign(String(value))])),
    nested.length > 0 && renderTree(Object.fromEntries(nested)),
  ];
}

/** A table that scrolls by itself where it is too wide. */
export function scrolled(label: string, shown: HTMLElement) {
  return make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, shown);
}

export interface Filter {
  readonly name: string;
  readonly label: string;
  /** Values with their words; without them it is a field for text. */
  readonly choices?: readonly (readonly [value: string, words: string])[];
  readonly placeholder?: string;
  /** The parameter can be repeated; the field has its values with commas between them. */
  readonly isList?: boolean;
}

interface FilteredListOptions<Item> extends Omit<ListOptions<Item>, 'load' | 'newest'> {
  readonly page: Page;
  /** Of the section; the filters are the query of its address. */
  readonly path: string;
  readonly filters: readonly Filter[];
  /** Used if the address has no `since`. */
  readonly since?: string;
  load(query: URLSearchParams, signal: AbortSignal): Promise<Loaded<Item>>;
}

/** Newest items first, with fields for the parameters of the address. */
export function makeFilteredList<Item>(main: HTMLElement, options: FilteredListOptions<Item>) {
  const { page, path, filters, since: usual } = options;
  let query = new URLSearchParams();
  /** The parameters for the API: a period such as `24h` becomes the time at which it began. */
  const toApiQuery = () => {
    const given = new URLSearchParams(query);
    const [, number, unit] = /^(\d{1,4})([hd])$/.exec(query.get('since') ?? usual ?? '') ?? [];
    const ms = Number(number) * (unit === 'h' ? 3_600_000 : 86_400_000);
    if (number !== undefined) given.set('since', new Date(page.api.now() - ms).toISOString());
    return given;
  };
  const list = makeList<Item>({
    ...options,
    newest: 'first',
    load: ({ signal, ...part }) => {
      const wanted = toApiQuery();
      for (const [name, value] of Object.entries(part)) wanted.set(name, String(value));
      return options.load(wanted, signal);
    },
  });
  const go = (changed: URLSearchParams) => page.go(withQuery(path, changed));
  const fields = filters.map((filter) => {
    const { name, label, choices, placeholder = '', isList = false } = filter;
    const options = choices?.map(([value, words]) => make('option', { value }, words));
    const field = options
      ? make('select', { name }, options)
      : make('input', { name, placeholder, autocomplete: 'off', spellcheck: 'false' });
    field.addEventListener('change', () => {
      const changed = new URLSearchParams(query);
      changed.delete(name);
      const values = isList ? field.value.split(',') : [field.value];
      for (const each of values) if (each.trim() !== '') changed.append(name, each.trim());
      go(changed);
    });
    return { name, field, box: make('label', { class: 'field' }, make('span', {}, label), field) };
  });
  const clear = button('Clear', () => go(new URLSearchParams()), { class: 'quiet' });
  const bar = make(
    'div',
    { class: 'filter-bar', role: 'search' },
    fields.map(({ box }) => box),
    clear,
  );
  return {
    bar,
    ...list,
    toApiQuery,
    /** The address with these parameters too. */
    hrefWith: (part: Readonly<Record<string, string>>) => {
      const changed = new URLSearchParams(query);
      for (const [name, value] of Object.entries(part)) changed.set(name, value);
      return page.hrefOf(withQuery(path, changed));
    },
    show: async (address: Address) => {
      query = address.query;
      for (const { name, field } of fields) field.value = query.getAll(name).join(', ');
      clear.hidden = query.size === 0;
      await list.reset();
    },
    key: (event: KeyboardEvent) => {
      if (event.key === '/') fields[0]?.field.focus();
      return event.key === '/' || moveFocus(main, event);
    },
  };
}

export function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

export const periods = [
  ['1h', 'last hour'],
  ['24h', 'last 24 hours'],
  ['7d', 'last 7 days'],
  ['30d', 'last 30 days'],
] as const;

/** A time of the server, with seconds. */
export function at(iso: string) {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return make('span', {}, iso);
  return make('time', { datetime: iso, title: iso }, clock.format(time));
}

const clock = new Intl.DateTimeFormat(undefined, {
  ...{ day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  hourCycle: 'h23',
});

import { stringifyJson } from '../../../base/json/json.ts';
import { button, flat, make } from '../../../base/page/dom.ts';
import { count } from '../../../base/page/format.ts';
import { escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import { type Call, describe } from '../api.ts';
import type { Address, OpenSection, Page } from '../section.ts';
import { makeCallPane } from './call.ts';
import { makeList } from './list.ts';
import { makeNotifier } from './notify.ts';
import { makeOutbox } from './outbox.ts';
import { makeComparison } from './several.ts';

/** What lasts longer than the section. */
const lasting = new WeakMap<Page, ReturnType<typeof prepareInbox>>();

export function prepareInbox(page: Page) {
  const made = { outbox: makeOutbox(page), notifier: makeNotifier(page), selected: new Map<string, Call>() };
  lasting.set(page, made);
  return made;
}

/** Rows of one request. */
const PAGE = 100;

/** Calls that one request can decide. */
const MOST_SELECTED = 1_000;

const states: Readonly<
  Record<
    string,
    readonly [label: string, query: { status?: Call['status'] | 'all'; use?: 'not_used' | 'expired' }]
  >
> = {
  open: ['Waiting', {}],
  not_used: ['Approved, not used', { status: 'all', use: 'not_used' }],
  unused_expired: ['Approved, expired', { status: 'all', use: 'expired' }],
  approved: ['Approved', { status: 'approved' }],
  rejected: ['Rejected', { status: 'rejected' }],
  responded: ['Answered', { status: 'responded' }],
  expired: ['Expired', { status: 'expired' }],
  cancelled: ['Cancelled', { status: 'cancelled' }],
  all: ['All', { status: 'all' }],
};

export const openInbox: OpenSection = (main, page) => {
  const { api } = page;
  const { outbox, notifier, selected } = lasting.get(page) ?? prepareInbox(page);
  let query = new URLSearchParams();
  let active = '';
  let rows = openRows();
  let comparison: ReturnType<typeof makeComparison> | undefined;
  const isWide = matchMedia('(min-width: 900px)');

  const pathOf = (id: string, changed = query) =>
    `/inbox${id === '' ? '' : `/${encodeURIComponent(id)}`}${changed.size === 0 ? '' : `?${changed}`}`;
  const open = (id: string, replace = active !== '') => page.go(pathOf(id), { replace });
  const pane = makeCallPane({
    page,
    outbox,
    onClose: () => open('', false),
    onDecided(id) {
      const next = after(id);
      if (next !== undefined && isWide.matches) open(next.id, true);
    },
  });
  const list = makeList({
    page,
    outbox,
    hrefOf: (id) => page.hrefOf(pathOf(id)),
    isSelected: (id) => selected.has(id),
    onSelect: (call) => select(call),
    onEnd: () => void load(() => rows.more()),
  });
  const status = make('p', { class: 'note', role: 'status' });
  const bulk = make('div', { class: 'bulk' });
  const search = make('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': 'Search the loaded calls',
  });
  const state = make(
    'select',
    { 'aria-label': 'State' },
    Object.entries(states).map(([value, [label]]) => make('option', { value }, label)),
  );
  const tool = make('select', { 'aria-label': 'Tool' });
  const mine = make('input', { type: 'checkbox' });
  const detail = make('div', { class: 'detail' }, pane.element);
  // The second click of a double click would decide about the call that the first one has brought there.
  detail.addEventListener('click', (event) => event.detail > 1 && event.stopPropagation(), true);
  main.replaceChildren(
    make('h1', { class: 'unseen' }, 'Inbox'),
    make(
      'section',
      { class: 'list', 'aria-label': 'Calls' },
      make(
        'div',
        { class: 'filters' },
        make(
          'div',
          { class: 'filter-head' },
          make('span', { class: 'title', 'aria-hidden': 'true' }, 'Inbox'),
          status,
          notifier ?? null,
        ),
        make('div', { class: 'filter-row' }, search, make('label', { class: 'mine' }, mine, 'For me')),
        make('div', { class: 'filter-row' }, state, tool),
      ),
      list.element,
      bulk,
    ),
    detail,
  );

  const filter = (name: string, value: string) => {
    const changed = new URLSearchParams(query);
    if (value === '') changed.delete(name);
    else changed.set(name, value);
    page.go(pathOf(active, changed), { replace: true });
  };
  search.addEventListener('input', () => filter('q', search.value));
  state.addEventListener('change', () => filter('state', state.value === 'open' ? '' : state.value));
  tool.addEventListener('change', () => filter('tool', tool.value));
  mine.addEventListener('change', () => filter('mine', mine.checked ? 'true' : ''));

  function openRows() {
    return makeRows(async (more) => {
      const [, wanted] = states[query.get('state') ?? 'open'] ?? [];
      const [tools, run] = [query.get('tool'), query.get('run')];
      return await api.get('/pendings', {
        query: {
          ...wanted,
          ...(tools && { tool: tools }),
          ...(run && { run }),
          ...(query.has('mine') && { mine: true }),
          ...more,
          limit: PAGE,
        },
      });
    });
  }
  const found = () => {
    const text = (query.get('q') ?? '').toLowerCase();
    const all = rows.all();
    if (text === '') return all;
    return all.filter((call) => textOf(call).includes(text));
  };
  const after = (id: string) => {
    const calls = found();
    const at = calls.findIndex((call) => call.id === id);
    const rest = [...calls.slice(at + 1), ...calls.slice(0, Math.max(at, 0))];
    return rest.find((call) => outbox.heldFor(call.id) === undefined && call.status === 'open');
  };
  let isLoading = false;
  let isChanged = false;
  const load = async (act: () => Promise<boolean>) => {
    if (isLoading) return;
    isLoading = true;
    try {
      if (await act()) draw();
    } catch (error) {
      status.replaceChildren(...flat([describe(error)]));
    } finally {
      isLoading = false;
      if (isChanged) void refresh().catch(() => {});
    }
  };
  const draw = () => {
    const calls = found();
    list.show(calls, active);
    const loaded = `${count(calls.length)}${rows.hasMore() ? ' loaded' : ''}`;
    status.textContent = calls.length === 0 && !rows.hasMore() ? 'No call here.' : loaded;
    drawBulk(calls);
  };
  const drawBulk = (calls: readonly Call[]) => {
    const [first] = selected.values();
    const wanted = first?.tool ?? query.get('tool');
    const others = calls
      .filter(
        (call) => call.tool === wanted && call.status === 'open' && outbox.heldFor(call.id) === undefined,
      )
      .slice(0, MOST_SELECTED);
    bulk.replaceChildren(
      ...(first === undefined
        ? []
        : [
            button(`Compare ${count(selected.size)} and decide`, () => compare(), { class: 'primary' }),
            button('Clear', () => clear(), { class: 'quiet' }),
          ]),
      ...(wanted === null || wanted === undefined || others.length <= selected.size
        ? []
        : [
            button(
              `Select ${count(others.length)} listed`,
              () => {
                for (const call of others) selected.set(call.id, call);
                draw();
              },
              { class: 'quiet' },
            ),
          ]),
    );
  };
  const select = (call: Call) => {
    const [first] = selected.values();
    if (selected.delete(call.id)) return draw();
    if (call.status !== 'open' || outbox.heldFor(call.id) !== undefined)
      page.say('Only calls that wait can be selected.', 'error');
    else if (first !== undefined && first.tool !== call.tool)
      page.say(`Only calls of one tool can be decided together. Selected: ${first.tool}.`, 'error');
    else if (selected.size >= MOST_SELECTED)
      page.say(`At most ${count(MOST_SELECTED)} calls can be decided together.`, 'error');
    else selected.set(call.id, call);
    draw();
  };
  const clear = () => {
    selected.clear();
    comparison = undefined;
    detail.replaceChildren(pane.element);
    main.classList.toggle('has-call', active !== '');
    draw();
  };
  const compare = () => {
    comparison = makeComparison({
      ...{ page, outbox, calls: [...selected.values()], onClose: clear },
      drop(id) {
        selected.delete(id);
        if (selected.size === 0) return clear();
        draw();
        compare();
      },
      onDecided(ids) {
        for (const id of ids) selected.delete(id);
        draw();
      },
    });
    detail.replaceChildren(comparison.element);
    main.classList.add('has-call');
    comparison.focus();
  };
  const refresh = async () => {
    isChanged = isLoading;
    if (isChanged) return;
    const [first, last] = list.inView();
    await load(() => rows.refresh(query.has('q') ? [0, 0] : [first, last]));
    pane.refresh();
    await showTools();
  };
  const showTools = async () => {
    const { by_tool: tools } = await api.get('/pendings/counts', {
      query: query.has('mine') ? { mine: true } : {},
    });
    const chosen = query.get('tool') ?? '';
    const names = [...new Set([...Object.keys(tools).sort(), ...(chosen === '' ? [] : [chosen])])];
    tool.replaceChildren(
      make('option', { value: '' }, 'All tools'),
      ...names.map((name) => make('option', { value: name }, escapeInvisibleLine(name))),
    );
    tool.value = chosen;
  };

  const stops = [
    page.watch(['pendings'], () => void refresh().catch(() => {})),
    outbox.watch(() => {
      draw();
      pane.update();
    }),
  ];
  const step = (by: number) => {
    const calls = found();
    const at = calls.findIndex(({ id }) => id === active);
    const next = calls[Math.min(Math.max(at + by, 0), calls.length - 1)];
    if (next === undefined) return;
    isStepping = true;
    open(next.id);
    list.reveal();
  };
  let isStepping = false;
  let shownFilter: string | undefined;

  return {
    async show({ path: [id = ''], query: wanted }: Address) {
      query = wanted;
      const isNew = id !== active;
      active = id;
      state.value = query.get('state') ?? 'open';
      mine.checked = query.has('mine');
      if (search.value !== (query.get('q') ?? '')) search.value = query.get('q') ?? '';
      main.classList.toggle('has-call', id !== '' || comparison !== undefined);
      if (isNew && comparison !== undefined) {
        comparison = undefined;
        detail.replaceChildren(pane.element);
      }
      const filters = new URLSearchParams(query);
      filters.delete('q');
      const isFirst = shownFilter === undefined;
      if (shownFilter !== `${filters}`) {
        shownFilter = `${filters}`;
        rows = openRows();
        isLoading = false;
        void load(() => rows.more());
        void showTools().catch(() => {});
      } else draw();
      const isStep = isStepping;
      isStepping = false;
      await pane.show(id);
      if (isNew && id !== '' && !isStep && !isFirst && active === id) pane.focus();
    },
    keys: [
      ['j k', 'next and previous call'],
      ['/', 'search'],
      ['x', 'select the call, to decide several at once'],
      ['c', 'compare the selected calls'],
      ['a', 'approve'],
      ['e', 'edit the arguments'],
      ['r', 'reject'],
      ['u', 'undo, within 5 seconds'],
      ['Escape', 'leave a field; close the call'],
    ],
    key(event) {
      const call = found().find(({ id }) => id === active);
      switch (event.key) {
        case 'j':
        case 'k':
          step(event.key === 'j' ? 1 : -1);
          return true;
        case '/':
          search.focus();
          return true;
        case 'x':
          if (call !== undefined) select(call);
          return call !== undefined;
        case 'u':
          return outbox.undo();
        case 'c':
          if (selected.size === 0) return false;
          compare();
          return true;
        case 'Escape':
          if (comparison !== undefined) clear();
          else if (active !== '') open('', false);
          else return false;
          return true;
        default:
          return (comparison ?? pane).key(event);
      }
    },
    close() {
      for (const stop of stops) stop();
      list.close();
      pane.close();
    },
  };
};

function textOf({ id, tool, message, reason, args, run, caller }: Call): string {
  return `${id} ${tool} ${message} ${reason} ${stringifyJson(args)} ${run.name} ${stringifyJson(caller)}`.toLowerCase();
}

interface Part {
  readonly after: string | undefined;
  readonly calls: readonly Call[];
}

/** Rows in pages, each with the cursor before it, so that those in view can be read again. */
function makeRows(read: (more: { after?: string }) => Promise<{ pending: readonly Call[]; next?: string }>) {
  let parts: readonly Part[] = [];
  let next: string | undefined;
  let isStarted = false;
  return {
    all: () => parts.flatMap(({ calls }) => calls),
    hasMore: () => !isStarted || next !== undefined,
    /** Resolves to whether there were more. */
    async more() {
      if (isStarted && next === undefined) return false;
      const after = next;
      const found = await read(after === undefined ? {} : { after });
      isStarted = true;
      parts = [...parts, { after, calls: found.pending }];
      next = found.next;
      return true;
    },
    /** Reads the pages of these rows again, and the last one. */
    async refresh([first, last]: readonly [first: number, last: number]) {
      let at = 0;
      for (const [index, { after, calls }] of parts.entries()) {
        const isInView = at <= last && at + calls.length >= first;
        at += calls.length;
        const isLast = index === parts.length - 1;
        if (!isInView && !isLast) continue;
        const found = await read(after === undefined ? {} : { after });
        // Where calls of this page are gone, the answer goes on with those of the next one.
        const later = new Set(parts.slice(index + 1).flatMap((part) => part.calls.map(({ id }) => id)));
        const end = found.pending.findIndex(({ id }) => later.has(id));
        const fresh = end === -1 ? found.pending : found.pending.slice(0, end);
        parts = parts.map((part) => (part === parts[index] ? { after, calls: fresh } : part));
        if (isLast) next = found.next;
      }
      return true;
    },
  };
}

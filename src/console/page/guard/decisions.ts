import { type Child, flat, foreign, make, note, row, table } from '../../../base/page/dom.ts';
import { count, counted, duration, percent } from '../../../base/page/format.ts';
import type { HookMode, Verdict } from '../../../contract/hook.ts';
import { describe, type Reply } from '../api.ts';
import {
  at,
  type Filter,
  makeFilteredList,
  makeItem,
  periods,
  renderMembers,
  scrolled,
  withQuery,
} from '../list.ts';
import type { Address, Page } from '../section.ts';
import { renderPlot, swatch, verdicts } from './plot.ts';

type Entry = Reply<'GET', '/decisions'>['decisions'][number];
type Counts = Reply<'GET', '/decisions/counts'>['counts'];
type HrefWith = (part: Readonly<Record<string, string>>) => string;

const period = '24h';
const filters: readonly Filter[] = [
  { name: 'hook', label: 'Hook', placeholder: 'any' },
  {
    name: 'verdict',
    label: 'Verdict',
    choices: [['', 'any'], ...verdicts.map((each) => [each, each] as const)],
  },
  {
    name: 'mode',
    label: 'Mode',
    choices: [
      ['', 'any'],
      ['filter', 'filter'],
      ['shadow', 'shadow'],
    ],
  },
  {
    name: 'since',
    label: 'Since',
    choices: periods.map(([value, words]) => [value === period ? '' : value, words]),
  },
];

/** Decisions of hooks over time, how often each hook decided what, and a list. */
export function openDecisions(main: HTMLElement, page: Page) {
  const figures = make('div', { class: 'figures-box' });
  const body = make('div', { class: 'decisions' });
  let loading = new AbortController();
  const list = makeFilteredList<Entry>(main, {
    ...{ page, path: '/guard', filters, since: period, body },
    keyOf: JSON.stringify,
    render: (entry) => renderEntry(page, entry),
    empty: () => note('No decisions.'),
    load: async (query, signal) => {
      const { decisions, next } = await page.api.get('/decisions', { query, signal });
      return { items: decisions, next };
    },
  });
  const showFigures = async () => {
    loading.abort();
    loading = new AbortController();
    const { signal } = loading;
    const query = list.toApiQuery();
    const span = { since: Date.parse(query.get('since') ?? ''), until: page.api.now() };
    const width = Math.max(280, figures.clientWidth);
    // A bar needs some pixels.
    const every = (span.until - span.since) / 3_600_000 > width / 5 ? 'day' : 'hour';
    query.set('every', every);
    try {
      const reply = await page.api.get('/decisions/counts', { query, signal });
      const { buckets = [], counts, dropped, total } = reply;
      const isOpen = figures.querySelector('details')?.open === true;
      const shown = total > 0 && [
        renderPlot({ buckets, every, ...span, width, isOpen }),
        renderLegend(counts, list.hrefWith),
        renderCounts(counts, list.hrefWith),
      ];
      figures.replaceChildren(...flat([dropped > 0 && renderGap(dropped, 'decision'), shown]));
    } catch (error) {
      if (!signal.aborted)
        figures.replaceChildren(make('p', { class: 'bad', role: 'alert' }, describe(error)));
    }
  };
  main.append(list.bar, figures, make('h2', {}, 'Decisions'), body, list.foot);
  return {
    ...list,
    show: async (address: Address) => {
      const shown = list.show(address);
      await Promise.all([shown, showFigures()]);
    },
    refresh: async () => {
      // A person who uses a table or its links keeps it.
      const isUsed = figures.contains(document.activeElement);
      await Promise.all([list.refresh(), !isUsed && showFigures()]);
    },
    close: () => {
      loading.abort();
      list.close();
    },
  };
}

function renderGap(dropped: number, noun: string, ...time: readonly Child[]) {
  return make(
    'p',
    { class: 'gap' },
    time,
    ` ${counted(dropped, noun)} could not be stored in time, and are missing here.`,
  );
}

function sumOf(counts: Counts, verdict?: Verdict) {
  return counts.reduce(
    (sum, each) => sum + (verdict === undefined || each.verdict === verdict ? each.count : 0),
    0,
  );
}

function renderLegend(counts: Counts, hrefWith: HrefWith) {
  const items = verdicts.map((verdict) => {
    const link = make(
      'a',
      { href: hrefWith({ verdict }) },
      swatch(verdict),
      `${verdict} `,
      make('b', {}, count(sumOf(counts, verdict))),
    );
    return make('li', {}, link);
  });
  return make('ul', { class: 'legend-list', 'aria-label': 'Verdicts' }, items);
}

/** What each hook decided; shadows below the filters with which they are compared. */
function renderCounts(counts: Counts, hrefWith: HrefWith) {
  const rowOf = (name: Child, of: Counts, link?: { readonly hook: string; readonly mode: HookMode }) => {
    const cells = verdicts.map((verdict) => {
      const number = sumOf(of, verdict);
      return link && number > 0
        ? make('a', { href: hrefWith({ ...link, verdict }) }, count(number))
        : count(number);
    });
    const blocked = sumOf(of, 'deny') + sumOf(of, 'abort');
    return row(name, ...cells, count(sumOf(of)), percent(blocked / sumOf(of)));
  };
  const rows = (['filter', 'shadow'] as const).map((mode) => {
    const ofMode = counts.filter((each) => each.mode === mode);
    const hooks = [...new Set(ofMode.map(({ hook }) => hook))].toSorted();
    const tag = mode === 'shadow' && make('span', { class: 'tag' }, mode);
    return [
      hooks.map((hook) =>
        rowOf(
          [foreign(hook), ' ', tag],
          ofMode.filter((each) => each.hook === hook),
          { hook, mode },
        ),
      ),
      hooks.length > 1 && rowOf(make('i', {}, `All ${mode}s`), ofMode),
    ];
  });
  const shown = table('figures', ['Hook', ...verdicts, 'All', 'Blocked'], rows);
  return scrolled('Decisions of each hook', shown);
}

function renderEntry(page: Page, entry: Entry) {
  if (entry.type === 'gap')
    return renderGap(entry.dropped, entry.what === 'decisions' ? 'decision' : 'model call', at(entry.at));
  const { verdict, hook, mode, reason, error, run_id: run, step, event } = entry;
  const line = make(
    'summary',
    { 'data-row': true },
    at(entry.at),
    verdictPill(verdict),
    make(
      'span',
      { class: 'words' },
      foreign(hook),
      ' ',
      mode !== 'filter' && make('span', { class: 'tag' }, mode),
    ),
    make(
      'span',
      { class: 'words reason' },
      error !== null && [make('code', {}, error), ' '],
      foreign(reason),
    ),
    make('span', { class: 'time' }, duration(entry.duration_ms)),
  );
  return makeItem(line, `item ${mode}`, async () => {
    const ofStep = new URLSearchParams(step === null ? {} : { step: step.replace(workOfStep, '') });
    const href = page.hrefOf(withQuery(`/runs/${encodeURIComponent(run ?? '')}`, ofStep));
    const timeAt = (ms: number) => new Date(Date.parse(entry.at) + ms).toISOString();
    const ofEvent = { event, since: timeAt(-EVENT_MS), until: timeAt(EVENT_MS) };
    const { decisions } = await page.api.get('/decisions', { query: { ...ofEvent, limit: 1000 } });
    const others = decisions.flatMap((each) => (each.type === 'decision' ? [each] : []));
    const rows = others.map((each) =>
      row(
        foreign(each.hook),
        each.mode,
        verdictPill(each.verdict),
        foreign(each.reason),
        duration(each.duration_ms),
      ),
    );
    const titles = ['All hooks that decided on this event', 'Mode', 'Verdict', 'Reason', 'Time'];
    const own = page.hrefOf(withQuery('/guard', new URLSearchParams(ofEvent)));
    return [
      make(
        'p',
        {},
        run !== null && [make('a', { href }, 'Show it in the run'), ' · '],
        make('a', { href: own }, 'Link to this event'),
      ),
      renderMembers(entry),
      rows.length > 1 && scrolled('Decisions on this event', table('', titles, rows)),
    ];
  });
}

/** What the place of a decision has after the path of the step; see pipelines/show/step-place.ts. */
const workOfStep = /\/(?:attempt-\d+\/.*|turn|score|call(?:\/ruling-\d+)?)$/;
/** Hooks decide on one event within this time. */
const EVENT_MS = 60_000;

export function verdictPill(verdict: string) {
  return make('span', { class: `pill ${kinds[verdict] ?? ''}` }, foreign(verdict));
}

const kinds: Readonly<Record<string, string>> = {
  ...{
    deny: 'failed',
    denied: 'failed',
    abort: 'failed',
    aborted: 'failed',
    failed: 'failed',
    refused: 'failed',
  },
  ...{ modify: 'judged', modified: 'judged', respond: 'judged', ask: 'unscored' },
};

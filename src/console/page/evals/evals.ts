import { button, type Child, flat, foreign, make, note } from '../../../base/page/dom.ts';
import { count, counted, instant, percent } from '../../../base/page/format.ts';
import { describe, type Reply } from '../api.ts';
import type { Address, OpenSection, Page } from '../section.ts';
import { renderComparison } from './compare.ts';
import { renderHistory } from './history.ts';
import { linkToRun, makeTable, statusPill } from './parts.ts';

type View = { refresh: () => Promise<void> };

export const openEvals: OpenSection = (main, page) => {
  let view: View | undefined;
  let shown = '';
  const open = ({ path: [first, name], query }: Address): View => {
    if (first === undefined) return openList(main, page, query.get('suite') ?? '');
    if (first === 'compare') return openComparison(main, page, query);
    if (first === 'suites' && name !== undefined) return openHistory(main, page, name);
    // The page of a run is a document of its own.
    location.reload();
    return { refresh: async () => {} };
  };
  const stop = page.watch(['suites'], () => {
    view?.refresh().catch((error: unknown) => page.say(describe(error), 'error'));
  });
  return {
    async show(address) {
      const next = `${address.path.join('/')}?${address.query}`;
      if (next === shown) return;
      shown = next;
      view = open(address);
      try {
        await view.refresh();
        // The link or button that led here is gone.
        if (address.path.length > 0 && shown === next) focusHeading(main);
      } catch (error) {
        if (shown !== next) return;
        view = undefined;
        main.replaceChildren(
          make('h1', {}, 'This cannot be shown'),
          make('p', { role: 'alert' }, describe(error)),
          make('a', { class: 'link', href: page.hrefOf('/evals') }, 'All runs'),
        );
      }
    },
    close: stop,
  };
};

function focusHeading(main: HTMLElement) {
  const heading = main.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus();
}

type Run = Reply<'GET', '/evals/runs'>['runs'][number];

/** All runs, or those of a suite; two of them can be compared. */
function openList(main: HTMLElement, page: Page, suite: string): View {
  let runs: readonly Run[] = [];
  let next: string | undefined;
  const chosen = new Map<Side, string>();
  const rows = make('div');
  const found = make('p', { class: 'note', role: 'status' });
  const compare = button(
    'Compare A with B',
    () => {
      const [a = '', b = ''] = [chosen.get('a'), chosen.get('b')];
      page.go(`/evals/compare?${new URLSearchParams({ a, b })}`);
    },
    { class: 'primary' },
  );
  const more = button(
    'Older runs',
    () => void load(true).catch((error) => page.say(describe(error), 'error')),
  );
  const field = make('input', {
    type: 'search',
    id: 'suite',
    name: 'suite',
    value: suite,
    autocomplete: 'off',
  });
  const submit = (event: Event) => {
    event.preventDefault();
    page.go(field.value === '' ? '/evals' : `/evals?${new URLSearchParams({ suite: field.value })}`);
  };
  main.replaceChildren(
    make('h1', {}, 'Evals'),
    make(
      'form',
      { class: 'evals-filter', role: 'search', submit },
      make('label', { for: 'suite' }, 'Suite'),
      field,
      make('button', { type: 'submit' }, 'Show'),
      suite !== '' && make('a', { class: 'link', href: page.hrefOf('/evals') }, 'All suites'),
      suite !== '' &&
        make('a', { class: 'link', href: page.hrefOf(historyOf(suite)) }, 'History of the suite'),
    ),
    rows,
    make('div', { class: 'evals-filter' }, compare, more, found),
  );

  const load = async (isMore: boolean) => {
    const filter = suite === '' ? {} : { suite };
    // What is listed is read again, so that the list stays as long as it is.
    const query = isMore ? { ...filter, after: next ?? '' } : { ...filter, limit: clamp(runs.length) };
    const listed = await page.api.get('/evals/runs', { query });
    runs = isMore ? [...runs, ...listed.runs] : listed.runs;
    next = listed.next;
    show();
  };
  const show = () => {
    const [b, a] = newestPair(runs);
    if (a !== undefined && b !== undefined && !isListed('a')) chosen.set('a', a.id);
    if (b !== undefined && !isListed('b')) chosen.set('b', b.id);
    const heads = ['Run', 'Suite', 'Status', 'Started', 'Cases', 'Passed', 'A', 'B'];
    const focused = document.activeElement?.id ?? '';
    rows.replaceChildren(
      runs.length === 0
        ? note(sayNone(suite))
        : makeTable(
            'Runs',
            heads,
            runs.map((run) => rowOf(page, run, choice)),
            'figures run-list',
          ),
    );
    if (rows.contains(document.getElementById(focused))) document.getElementById(focused)?.focus();
    compare.hidden = runs.length < 2;
    more.hidden = next === undefined;
    found.textContent = runs.length === 0 ? '' : `${counted(runs.length, 'run')}, the newest first`;
  };
  const isListed = (side: Side) => runs.some(({ id }) => id === chosen.get(side));
  const choice = (side: Side, id: string) =>
    make('input', {
      ...{ type: 'radio', name: side, id: `${side}-${id}`, value: id, checked: chosen.get(side) === id },
      'aria-label': `${side.toUpperCase()}: ${id}`,
      change: () => chosen.set(side, id),
    });
  return { refresh: async () => await load(false) };
}

type Side = 'a' | 'b';

/** The newest run that has an older one of its suite, and that one. */
function newestPair(runs: readonly Run[]): readonly Run[] {
  for (const [index, b] of runs.entries()) {
    const a = runs.slice(index + 1).find(({ suite }) => suite === b.suite);
    if (a !== undefined) return [b, a];
  }
  return runs;
}

function clamp(listed: number) {
  return Math.min(Math.max(listed, 100), 1000);
}

function sayNone(suite: string) {
  const which = suite === '' ? 'No run is stored' : `No run of the suite ${suite} is stored`;
  return `${which}: signalbox eval run SUITE stores one.`;
}

function historyOf(suite: string) {
  return `/evals/suites/${encodeURIComponent(suite)}`;
}

function rowOf(page: Page, run: Run, choice: (side: Side, id: string) => Child): readonly Child[] {
  const { id, kind, suite, status, started_at: started, cases, pass_rate: rate } = run;
  return [
    linkToRun(page, id, id.slice(0, 8)),
    make('a', { class: 'link', href: page.hrefOf(historyOf(suite)) }, foreign(suite)),
    // A shadow collection has no end.
    statusPill(kind === 'shadow' ? 'shadow' : status),
    started === '' ? '–' : instant(started),
    count(cases),
    percent(rate),
    choice('a', id),
    choice('b', id),
  ];
}

function openComparison(main: HTMLElement, page: Page, query: URLSearchParams): View {
  const [a, b] = [query.get('a') ?? '', query.get('b') ?? ''];
  let isCompared = false;
  main.replaceChildren(make('h1', {}, 'Comparison'), note('Comparing …'));
  return {
    // It holds all cases of a side in memory, so a change of any run does not repeat it.
    async refresh() {
      if (isCompared) return;
      isCompared = true;
      const compared = await page.api.get('/evals/compare', { query: { a, b } });
      main.replaceChildren(...flat([renderComparison(page, compared, { a, b })]));
    },
  };
}

function openHistory(main: HTMLElement, page: Page, suite: string): View {
  main.replaceChildren(make('h1', {}, foreign(suite)), note('Loading …'));
  return {
    async refresh() {
      const { runs } = await page.api.get('/evals/history', { query: { suite, limit: 100 } });
      main.replaceChildren(...flat([renderHistory(page, suite, runs)]));
    },
  };
}

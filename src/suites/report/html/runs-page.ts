import { formatCount } from '../../../base/text/format-count.ts';
import { formatPercent } from '../numbers.ts';
import { box, escapeHtml, link, plain, renderPlainPage, table, text } from './plain.ts';

/** A run in the list. */
export interface ListedRun {
  readonly id: string;
  readonly kind: 'suite' | 'shadow';
  readonly suite: string;
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  readonly cases: number;
  /** 0..1; null without an end or a case. */
  readonly pass_rate: number | null;
}

/** One page of the list of runs. */
export interface RunsPage {
  readonly runs: readonly ListedRun[];
  /** The only suite whose runs are listed; undefined: all. */
  readonly suite: string | undefined;
  /** The query of the page of older runs; undefined: there are none. */
  readonly older: string | undefined;
  readonly isFirst: boolean;
}

/** Where the page of a run is. */
export function addressOfRun(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

/** Renders the list: the runs, a filter by suite, and a choice of two to be compared. Throws INTERNAL when the style was not built. */
export function renderRunsPage({ runs, suite, older, isFirst }: RunsPage): string {
  return renderPlainPage({
    title: 'Runs of suites',
    heading: 'Runs of suites',
    hasForms: true,
    sections: [filterForm(suite), runs.length === 0 ? nothing(suite, isFirst) : compareForm(runs), pager()],
  });

  function pager(): string {
    const first = isFirst ? '' : link(suite === undefined ? '/' : `/?${queryOf(suite)}`, 'Newest');
    const next = older === undefined ? '' : link(`/?${older}`, 'Older ›');
    return first + next === '' ? '' : `<nav class="pager" aria-label="Pages">${first}${next}</nav>`;
  }
}

function queryOf(suite: string): string {
  return new URLSearchParams({ suite }).toString();
}

function filterForm(suite: string | undefined): string {
  const all = suite === undefined ? '' : ` ${link('/', 'All suites')}`;
  return `<form class="form-row" method="get" action="/"><label for="suite">Suite</label>
<input id="suite" name="suite" value="${plain(suite ?? '')}"> <button>Show</button>${all}</form>`;
}

function nothing(suite: string | undefined, isFirst: boolean): string {
  const which = suite === undefined ? 'No run is kept' : `No run of the suite ${suite} is kept`;
  const why = isFirst ? `${which}: signalbox eval run SUITE keeps one.` : 'There are no older runs.';
  return box('Runs', `<p>${text(why)}</p>`);
}

/** Two of the list, of which the newer is B. */
function compareForm(runs: readonly ListedRun[]): string {
  const chosen = { a: runs[1]?.id, b: runs[0]?.id };
  const heads = ['Run', 'Suite', 'Status', 'Started', 'Cases', 'Passed', 'A', 'B'];
  const rows = runs.map((run) => [
    link(addressOfRun(run.id), run.id.slice(0, SHORT_ID), run.id),
    link(`/?${queryOf(run.suite)}`, run.suite),
    statusOf(run),
    escapeHtml(run.started_at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')),
    String(run.cases),
    run.pass_rate === null ? '–' : formatPercent(run.pass_rate),
    radio('a', run.id, chosen.a),
    radio('b', run.id, chosen.b),
  ]);
  const button = runs.length < 2 ? '' : '<div class="form-row"><button>Compare A with B</button></div>';
  const count = `<p class="note">${formatCount(runs.length, 'run')} on this page, the newest first</p>`;
  return `<form method="get" action="/compare">${box('Runs', table(heads, rows))}${count}${button}</form>`;
}

const SHORT_ID = 8;

/** A collection of a shadow has no end. */
function statusOf({ kind, status }: ListedRun): string {
  const shown = kind === 'shadow' ? 'shadow' : status;
  return `<span class="pill ${escapeHtml(shown)}">${escapeHtml(shown)}</span>`;
}

function radio(name: 'a' | 'b', id: string, chosen: string | undefined): string {
  const checked = id === chosen ? ' checked' : '';
  return `<input type="radio" name="${name}" value="${plain(id)}" aria-label="${plain(`${name.toUpperCase()}: ${id}`)}"${checked}>`;
}

import { formatCount } from '../../../base/text/phrases.ts';
import { formatPercent } from '../numbers.ts';
import { box, escapeHtml, link, plain, renderPlainPage, table, text } from './plain.ts';

export interface ListedRun {
  readonly id: string;
  readonly kind: 'suite' | 'shadow';
  readonly suite: string;
  readonly status: string;
  readonly started_at: string;
  readonly cases: number;
  /** 0..1; null if the run has no end or no cases. */
  readonly pass_rate: number | null;
}

export interface RunsPage {
  readonly runs: readonly ListedRun[];
  /** The suite filter; undefined lists all runs. */
  readonly suite: string | undefined;
  /** The query of the next page with older runs, if there is one. */
  readonly older: string | undefined;
  readonly isFirst: boolean;
}

export function addressOfRun(id: string): string {
  return `/runs/${encodeURIComponent(id)}`;
}

/** The list of runs, with a filter by suite and a form to compare two. Throws INTERNAL if the style was not built. */
export function renderRunsPage({ runs, suite, older, isFirst }: RunsPage): string {
  const all = suite === undefined ? '' : ` ${link('/', 'All suites')}`;
  const filter = `<form class="form-row" method="get" action="/"><label for="suite">Suite</label>
<input id="suite" name="suite" value="${plain(suite ?? '')}"> <button>Show</button>${all}</form>`;
  const which = suite === undefined ? 'No run is stored' : `No run of the suite ${suite} is stored`;
  const why = isFirst ? `${which}: signalbox eval run SUITE stores one.` : 'There are no older runs.';
  const first = isFirst ? '' : link(suite === undefined ? '/' : addressOfSuite(suite), 'Newest');
  const next = older === undefined ? '' : link(`/?${older}`, 'Older ›');
  return renderPlainPage({
    title: 'Runs of suites',
    heading: 'Runs of suites',
    hasForms: true,
    sections: [
      filter,
      runs.length === 0 ? box('Runs', `<p>${text(why)}</p>`) : compareForm(runs),
      first + next === '' ? '' : `<nav class="pager" aria-label="Pages">${first}${next}</nav>`,
    ],
  });
}

function addressOfSuite(suite: string): string {
  return `/?${new URLSearchParams({ suite })}`;
}

function compareForm(runs: readonly ListedRun[]): string {
  const radio = (name: 'a' | 'b', id: string, chosen: string | undefined): string => {
    const label = plain(`${name.toUpperCase()}: ${id}`);
    const checked = id === chosen ? ' checked' : '';
    return `<input type="radio" name="${name}" value="${plain(id)}" aria-label="${label}"${checked}>`;
  };
  const heads = ['Run', 'Suite', 'Status', 'Started', 'Cases', 'Passed', 'A', 'B'];
  const rows = runs.map(({ id, kind, suite, status, started_at, cases, pass_rate }) => {
    // A shadow collection has no end.
    const shown = escapeHtml(kind === 'shadow' ? 'shadow' : status);
    return [
      link(addressOfRun(id), id.slice(0, SHORT_ID), id),
      link(addressOfSuite(suite), suite),
      `<span class="pill ${shown}">${shown}</span>`,
      escapeHtml(started_at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')),
      String(cases),
      formatPercent(pass_rate),
      radio('a', id, runs[1]?.id),
      radio('b', id, runs[0]?.id),
    ];
  });
  const button = runs.length < 2 ? '' : '<div class="form-row"><button>Compare A with B</button></div>';
  const count = `<p class="note">${formatCount(runs.length, 'run')} on this page, the newest first</p>`;
  return `<form method="get" action="/compare">${box('Runs', table(heads, rows))}${count}${button}</form>`;
}

const SHORT_ID = 8;

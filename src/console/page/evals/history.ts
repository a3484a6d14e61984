import { type Child, draw, foreign, make, note } from '../../../base/page/dom.ts';
import { boundsOf, count, counted, instant, percent } from '../../../base/page/format.ts';
import type { Reply } from '../api.ts';
import type { Page } from '../section.ts';
import { linkToRun, makeTable, statusPill } from './parts.ts';

type Run = Reply<'GET', '/evals/history'>['runs'][number];
type Gate = Run['gates'][number];

/** Charts of the pass rate and of each gate, and the same figures as a table. `runs`: the newest first. */
export function renderHistory(page: Page, suite: string, runs: readonly Run[]): Child {
  const head = [
    make('p', {}, make('a', { class: 'link', href: page.hrefOf('/evals') }, '‹ Runs')),
    make('h1', {}, foreign(suite)),
  ];
  if (runs.length === 0) return [head, note('No run of this suite is stored.')];
  const gates = new Map(runs.flatMap((run) => run.gates).map((gate) => [nameOf(gate), gate]));
  const names = [...gates.keys()];
  const gateOf = (run: Run, name: string) => run.gates.find((gate) => nameOf(gate) === name);
  const rate = runs.map((run) => ({ run, value: run.pass_rate, passed: run.status === 'passed' }));
  const charts = names.slice(0, MOST_CHARTS).map((name) => {
    const points = runs.map((run) => ({ run, value: null, passed: true, ...gateOf(run, name) }));
    return drawChart(name, points, gates.get(name));
  });
  const rows = runs.map((run) => [
    linkToRun(page, run.run_id, run.run_id.slice(0, 8)),
    instant(run.started_at),
    statusPill(run.status),
    count(run.cases),
    percent(run.pass_rate),
    ...names.map((name) => gateCell(gateOf(run, name))),
  ]);
  const heads = ['Run', 'Started', 'Status', 'Cases', 'Passed', ...names];
  return [
    head,
    note(`${counted(runs.length, 'run')}, the newest first`),
    make('div', { class: 'charts' }, drawChart('Passed cases', rate), charts),
    make('div', { class: 'box' }, makeTable('Runs', heads, rows, 'figures run-history')),
  ];
}

/** The table has all gates. */
const MOST_CHARTS = 23;

function nameOf({ eval: id, tag, variant, better_than: base, metric }: Gate) {
  return [id ?? 'cases', tag, variant, base && `better than ${base}`, metric]
    .filter((part) => part !== undefined)
    .join(' · ');
}

function gateCell(gate: Gate | undefined): Child {
  if (gate === undefined) return '–';
  const value = gate.value === null ? 'no value' : short(gate.value);
  return gate.passed ? value : make('strong', { class: 'bad' }, value, ' failed');
}

function short(value: number) {
  return String(Number(value.toPrecision(4)));
}

interface Point {
  readonly run: Run;
  readonly value: number | null;
  readonly passed: boolean;
}

const [WIDTH, HEIGHT, EDGE] = [300, 100, 8];

/** A line from the oldest to the newest run, with the bounds of the gate. Failed runs have another shape. */
function drawChart(name: string, newestFirst: readonly Point[], gate?: Gate) {
  const points = newestFirst.toReversed();
  const bounds = [gate?.min ?? null, gate?.max ?? null].filter((bound) => bound !== null);
  const values = [...points.map(({ value }) => value), ...bounds].filter((value) => value !== null);
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  const x = (index: number) => EDGE + (index / Math.max(1, points.length - 1)) * (WIDTH - 2 * EDGE);
  const y = (value: number) => HEIGHT - EDGE - ((value - low) / (high - low)) * (HEIGHT - 2 * EDGE);
  const known = points.flatMap(({ run, value, passed }, index) =>
    value === null ? [] : [{ run, value, passed, at: [x(index), y(value)] as const }],
  );
  const marks = known.map(({ run, value, passed, at: [left, top] }) => {
    const title = draw(
      'title',
      {},
      `${instant(run.started_at)}: ${short(value)}, ${passed ? 'passed' : 'failed'}`,
    );
    if (passed) return draw('circle', { class: 'passed', cx: left, cy: top, r: 3 }, title);
    const d = `M${left - 3.5} ${top - 3.5}l7 7m0 -7l-7 7`;
    return draw('path', { class: 'failed', d }, title);
  });
  const latest = known.at(-1);
  const wanted = bounds.length === 0 ? '' : `, wanted ${boundsOf(gate?.min ?? null, gate?.max ?? null)}`;
  const words = latest === undefined ? 'no value' : `${short(latest.value)}${wanted}`;
  const picture = draw(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': `${name} of ${counted(known.length, 'run')}`,
    },
    bounds.map((bound) => draw('path', { class: 'bound', d: `M${EDGE} ${y(bound)}H${WIDTH - EDGE}` })),
    draw('polyline', { points: known.map(({ at }) => at.join(',')).join(' ') }),
    marks,
  );
  return make(
    'figure',
    { class: 'box' },
    make('figcaption', {}, foreign(name), make('strong', {}, words)),
    picture,
  );
}

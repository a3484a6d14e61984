import { draw, fold, make, row, table } from '../../../base/page/dom.ts';
import { count } from '../../../base/page/format.ts';
import type { DecisionCounts } from '../../../contract/decision.ts';
import type { Verdict } from '../../../contract/hook.ts';
import { scrolled } from '../list.ts';

/** From the base of a bar upwards, so that what is blocked can be compared. */
export const verdicts: readonly Verdict[] = ['deny', 'abort', 'ask', 'respond', 'modify', 'allow'];

const HEIGHT = 160;
/** A part is at least so high: one denied call is visible beside a million of allowed ones. */
const LEAST = 3;

interface Bar {
  readonly at: number;
  readonly counts: ReadonlyMap<Verdict, number>;
}

interface PlotOptions {
  readonly buckets: NonNullable<DecisionCounts['buckets']>;
  readonly every: 'hour' | 'day';
  readonly since: number;
  readonly until: number;
  readonly width: number;
  /** Whether the table is open. */
  readonly isOpen: boolean;
}

/** Stacked bars, and the same as a table. */
export function renderPlot({ buckets, every, since, until, width, isOpen }: PlotOptions) {
  const bars = toBars(buckets, { every, since, until });
  const most = Math.max(1, ...bars.map(({ counts }) => totalOf(counts)));
  const slot = width / bars.length;
  const patterns = verdicts.map((verdict) =>
    draw(
      'pattern',
      {
        id: `fill-${verdict}`,
        width: 6,
        height: 6,
        patternUnits: 'userSpaceOnUse',
        class: `verdict ${verdict}`,
      },
      draw('rect', { width: 6, height: 6 }),
      draw('path', { d: textures[verdict] }),
    ),
  );
  const drawn = bars.map(({ counts }, index) => {
    let top = HEIGHT;
    return verdicts.map((verdict) => {
      const number = counts.get(verdict) ?? 0;
      const height = number === 0 ? 0 : Math.max(LEAST, (number / most) * (HEIGHT - verdicts.length * LEAST));
      top -= height;
      const place = { x: index * slot + slot * 0.1, y: top, width: Math.max(1, slot * 0.8), height };
      return number > 0 && draw('rect', { ...place, fill: `url(#fill-${verdict})` });
    });
  });
  const total = bars.reduce((sum, { counts }) => sum + totalOf(counts), 0);
  const picture = draw(
    'svg',
    {
      ...{ viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', class: 'plot' },
      'aria-label': `${count(total)} decisions by ${every}; the table below has the numbers`,
    },
    draw('defs', {}, patterns),
    drawn,
  );
  const ends = [bars[0], bars[Math.floor(bars.length / 2)], bars.at(-1)];
  const axis = ends.map((bar) => make('span', {}, bar === undefined ? '' : words(bar.at, every)));
  const used = bars.filter(({ counts }) => counts.size > 0);
  const rows = used
    .toReversed()
    .map(({ at, counts }) =>
      row(words(at, every), ...verdicts.map((verdict) => make('td', {}, count(counts.get(verdict) ?? 0)))),
    );
  return make(
    'figure',
    { class: 'plot-box' },
    make('p', { class: 'note' }, `Up to ${count(most)} decisions in one ${every}`),
    picture,
    make('div', { class: 'axis', 'aria-hidden': 'true' }, axis),
    fold(
      'As a table',
      isOpen,
      scrolled(
        'Decisions over time',
        table('figures', [every === 'hour' ? 'Hour' : 'Day', ...verdicts], rows),
      ),
    ),
  );
}

/** Different for readers who cannot distinguish the colours. */
const textures: Readonly<Record<Verdict, string>> = {
  deny: 'M-1 7 7 -1 M-1 1 1 -1 M5 7 7 5',
  abort: 'M-1 7 7 -1 M-1 -1 7 7',
  ask: 'M0 1.5 H6 M0 4.5 H6',
  respond: 'M1.5 0 V6',
  modify: 'M1 1 h1.5 v1.5 h-1.5 z',
  allow: '',
};

export function swatch(verdict: Verdict) {
  const fill = `url(#fill-${verdict})`;
  return draw(
    'svg',
    { viewBox: '0 0 12 12', class: 'swatch', 'aria-hidden': 'true' },
    draw('rect', { width: 12, height: 12, rx: 2, fill }),
  );
}

const lengths = { hour: 3_600_000, day: 86_400_000 };

function toBars(
  buckets: PlotOptions['buckets'],
  { every, since, until }: Pick<PlotOptions, 'every' | 'since' | 'until'>,
): Bar[] {
  const length = lengths[every];
  const bars: { at: number; counts: Map<Verdict, number> }[] = [];
  for (let at = Math.floor(since / length) * length; at <= until; at += length)
    bars.push({ at, counts: new Map() });
  const places = new Map(bars.map((bar) => [bar.at, bar]));
  for (const { at, verdict, count: number } of buckets) {
    const counts = places.get(Date.parse(at))?.counts;
    counts?.set(verdict, (counts.get(verdict) ?? 0) + number);
  }
  return bars;
}

function totalOf(counts: ReadonlyMap<Verdict, number>): number {
  return [...counts.values()].reduce((sum, number) => sum + number, 0);
}

function words(at: number, every: 'hour' | 'day') {
  const time =
    every === 'hour'
      ? ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const)
      : { timeZone: 'UTC' };
  return new Date(at).toLocaleString(undefined, { day: 'numeric', month: 'short', ...time });
}

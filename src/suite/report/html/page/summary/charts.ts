import type { Classification, Interval } from '../../../../run/record.ts';
import { draw, make } from '../dom.ts';
import { count, counted, percent } from '../format.ts';

/** How the scores are spread, a bar for each tenth. */
export function drawHistogram(bars: readonly number[]) {
  const highest = Math.max(1, ...bars);
  const width = 240 / Math.max(1, bars.length);
  const shapes = bars.map((cases, index) => {
    const height = cases === 0 ? 0 : Math.max(1.5, (cases / highest) * 60);
    const bar = draw('rect', { x: index * width + 1, y: 60 - height, width: width - 2, height });
    bar.append(draw('title', {}, sayBar(bars, index)));
    return bar;
  });
  const said = bars
    .map((cases, index) => (cases === 0 ? '' : sayBar(bars, index)))
    .filter((text) => text !== '');
  const picture = draw(
    'svg',
    {
      viewBox: '0 0 240 60',
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `Scores. ${said.join('; ')}`,
    },
    ...shapes,
  );
  const axis = ['0', '0.5', '1'].map((text) => make('span', {}, text));
  const figure = make(
    'figure',
    { class: 'histogram' },
    make('figcaption', { 'aria-hidden': 'true' }, ...axis),
  );
  figure.prepend(picture);
  return figure;
}

function sayBar(bars: readonly number[], index: number) {
  const low = index / bars.length;
  const high = (index + 1) / bars.length;
  return `${low.toFixed(1)} to ${high.toFixed(1)}: ${counted(bars[index] ?? 0, 'case')}`;
}

/** A rate on a scale of 0 to 1, with the interval in which it may truly lie. */
export function drawRate(rate: number, interval: Interval | null) {
  const [low, high] = interval ?? [rate, rate];
  const at = (share: number) => 4 + share * 232;
  return draw(
    'svg',
    { class: 'rate', viewBox: '0 0 240 12', 'aria-hidden': 'true' },
    draw('rect', { class: 'track', x: 4, y: 4.5, width: 232, height: 3, rx: 1.5 }),
    draw('rect', { class: 'interval', x: at(low), y: 4.5, width: at(high) - at(low), height: 3, rx: 1.5 }),
    draw('circle', { cx: at(rate), cy: 6, r: 4 }),
  );
}

/** The ROC curve. */
export function drawRoc({ roc = [], auc }: Classification) {
  const points = roc.map(({ fpr, tpr }) => `${(10 + fpr * 140).toFixed(1)},${(150 - tpr * 140).toFixed(1)}`);
  const dots = roc.map(({ threshold, fpr, tpr }) => {
    const dot = draw('circle', { cx: 10 + fpr * 140, cy: 150 - tpr * 140, r: roc.length > 30 ? 2 : 3 });
    const rates = `${percent(tpr)} found, ${percent(fpr)} false alarms`;
    dot.append(draw('title', {}, `confidence from ${threshold}: ${rates}`));
    return dot;
  });
  const said = `ROC curve of ${count(roc.length)} points${auc === null ? '' : `, area ${auc.toFixed(3)}`}`;
  const picture = draw(
    'svg',
    { class: 'roc', viewBox: '0 0 160 160', role: 'img', 'aria-label': said },
    draw('path', { class: 'frame', d: 'M10 10 V150 H150' }),
    draw('path', { class: 'chance', d: 'M10 150 L150 10' }),
    draw('polyline', { points: points.join(' ') }),
    ...dots,
  );
  const caption = make('figcaption', {}, 'ROC: found over false alarms');
  const figure = make('figure', {}, caption);
  figure.prepend(picture);
  return figure;
}

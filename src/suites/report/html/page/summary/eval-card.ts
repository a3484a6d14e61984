import {
  button,
  draw,
  factList,
  fold,
  foreign,
  make,
  note,
  row,
  table,
} from '../../../../../base/page/dom.ts';
import {
  count,
  counted,
  duration,
  mean,
  meanWithError,
  percent,
  percentInterval,
} from '../../../../../base/page/format.ts';
import type { Classification, EvalHeader, EvalStats, Interval, Stats } from '../../../../record.ts';
import type { View } from '../list/view.ts';

export type Choose = (part: Partial<View>) => void;

export function renderEvalCard(about: EvalHeader, stats: EvalStats, choose: Choose) {
  const { classification, tags, histogram } = stats;
  const isMetric = about.role === 'metric';
  const failed = stats.count - stats.passed;
  const more = [
    classification !== undefined && renderClassification(classification),
    renderTags(tags, about.id, choose),
  ];
  const showFailed = () => choose({ eval: about.id, status: 'failed' });
  return make(
    'article',
    { class: 'card', 'aria-label': about.id },
    make(
      'div',
      { class: 'card-part' },
      renderHead(about.id, `${about.type} · ${about.role}`),
      isMetric ? renderMean(stats) : renderRate(stats),
      factList(factsOf(stats, isMetric), 'facts small'),
      stats.scored > 0 && drawHistogram(histogram),
      !isMetric && failed > 0 && button(`Show ${count(failed)} not passed`, showFailed, { class: 'link' }),
    ),
    more.some(Boolean) && make('div', { class: 'card-part' }, more),
  );
}

export function renderHead(title: string, kind: string) {
  return make('header', {}, make('h3', {}, foreign(title)), make('p', { class: 'kind' }, foreign(kind)));
}

export function renderRate({ pass_rate: rate, pass_rate_ci95: interval, passed, count: all }: Stats) {
  const words = `${count(passed)} of ${counted(all, 'case')} passed`;
  return rateBox(percent(rate), words, rate !== null && drawRate(rate, interval), percentInterval(interval));
}

function renderMean({ mean: value, ci95, scored }: Stats) {
  const range = ci95 && `${mean(ci95[0])} – ${mean(ci95[1])}`;
  const words = `mean of ${counted(scored, 'score')}`;
  return rateBox(mean(value), words, value !== null && drawRate(value, ci95), range);
}

function rateBox(big: string, words: string, picture: Element | false, range: string | null) {
  return make(
    'div',
    { class: 'rate-box' },
    make('p', { class: 'big' }, big),
    make('p', { class: 'sub' }, words),
    picture,
    range !== null && make('p', { class: 'sub' }, `95 % interval ${range}`),
  );
}

function factsOf(stats: EvalStats, isMetric: boolean): [string, string | null][] {
  const { latency_ms: latency, queue_ms: queue = null, faults = 0, flaky } = stats;
  const times = (of: EvalStats['latency_ms']) => of && `${duration(of.p50)} / ${duration(of.p99)}`;
  const chances = (name: string, byK: Stats['pass_at'] = {}) => {
    const all = Object.entries(byK).filter(([k]) => k !== '1');
    return all.slice(-2).map(([k, chance]): [string, string] => [`${name}${k}`, percent(chance)]);
  };
  return [
    [isMetric ? 'Mean ± error' : 'Mean', meanWithError(stats)],
    ['Median', mean(stats.median)],
    ['10th percentile', mean(stats.p10)],
    ['Unscored', count(stats.unscored)],
    ['Faults', faults === 0 ? null : count(faults)],
    ['Flaky', flaky === 0 ? null : count(flaky)],
    ...chances('pass@', stats.pass_at),
    ...chances('pass^', stats.pass_hat),
    ['Time, p50 / p99', times(latency)],
    ['Queue, p50 / p99', queue === null || queue.p99 < 0.5 ? null : times(queue)],
  ];
}

/** More rows are not readable. */
const MOST_TAGS = 100;

export function renderTags(tags: Readonly<Record<string, Stats>>, evalId: string, choose: Choose) {
  const all = Object.entries(tags);
  if (all.length === 0) return null;
  const rows = all.slice(0, MOST_TAGS).map(([tag, { count: cases, pass_rate, mean: value, unscored }]) => {
    const named = button(foreign(tag), () => choose({ tag, eval: evalId, status: 'all' }), { class: 'link' });
    return row(named, count(cases), percent(pass_rate), mean(value), count(unscored));
  });
  const more = all.length - MOST_TAGS;
  const shown = make(
    'div',
    { class: 'scroll' },
    table('figures', ['Tag', 'Cases', 'Passed', 'Mean', 'Unscored'], rows),
    more > 0 && note(`and ${counted(more, 'more tag')}`),
  );
  return fold(`By tag (${count(all.length)})`, all.length <= 6, shown);
}

function renderClassification(classification: Classification) {
  const { precision, recall, f1, f2, accuracy, auc, roc, latency_ms: latencies } = classification;
  const figures = factList(
    [
      ['Precision', mean(precision)],
      ['Recall', mean(recall)],
      ['F1', mean(f1)],
      ['F2', mean(f2)],
      ['Accuracy', mean(accuracy)],
      ['AUC', auc === null ? null : mean(auc)],
    ],
    'facts small',
  );
  const hooks = Object.entries(latencies).map(([name, { p50, p99 }]) =>
    row(foreign(name), duration(p50), duration(p99)),
  );
  return make(
    'div',
    { class: 'classification' },
    renderMatrix(classification),
    figures,
    roc !== undefined && roc.length > 0 && drawRoc(classification),
    hooks.length > 0 && table('figures', ['Hook', 'p50', 'p99'], hooks),
  );
}

function renderMatrix({ true_positives, false_positives, true_negatives, false_negatives }: Classification) {
  const cell = (number: number, kind: 'hit' | 'miss') =>
    make('td', { class: number === 0 ? 'zero' : kind }, count(number));
  const matrix = table(
    'matrix',
    ['', 'Flagged', 'Let pass'],
    [
      row('Should be flagged', cell(true_positives, 'hit'), cell(false_negatives, 'miss')),
      row('Should pass', cell(false_positives, 'miss'), cell(true_negatives, 'hit')),
    ],
  );
  matrix.prepend(make('caption', {}, 'Confusion matrix'));
  return matrix;
}

function drawHistogram(bars: readonly number[]) {
  const highest = Math.max(1, ...bars);
  const width = 240 / Math.max(1, bars.length);
  const words = bars.map((cases, index) => {
    const [low, high] = [index / bars.length, (index + 1) / bars.length];
    return `${low.toFixed(1)} to ${high.toFixed(1)}: ${counted(cases, 'case')}`;
  });
  const shapes = bars.map((cases, index) => {
    const height = cases === 0 ? 0 : Math.max(1.5, (cases / highest) * 60);
    const size = { x: index * width + 1, y: 60 - height, width: width - 2, height };
    return draw('rect', size, draw('title', {}, words[index]));
  });
  const said = words.filter((_text, index) => bars[index] !== 0);
  const picture = draw(
    'svg',
    {
      viewBox: '0 0 240 60',
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `Scores. ${said.join('; ')}`,
    },
    shapes,
  );
  const axis = ['0', '0.5', '1'].map((text) => make('span', {}, text));
  return make('figure', { class: 'histogram' }, picture, make('figcaption', { 'aria-hidden': 'true' }, axis));
}

function drawRate(rate: number, interval: Interval | null) {
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

function drawRoc({ roc = [], auc }: Classification) {
  const points = roc.map(({ fpr, tpr }) => `${(10 + fpr * 140).toFixed(1)},${(150 - tpr * 140).toFixed(1)}`);
  const dots = roc.map(({ threshold, fpr, tpr }) => {
    const rates = `${percent(tpr)} found, ${percent(fpr)} false alarms`;
    const place = { cx: 10 + fpr * 140, cy: 150 - tpr * 140, r: roc.length > 30 ? 2 : 3 };
    return draw('circle', place, draw('title', {}, `confidence from ${threshold}: ${rates}`));
  });
  const said = `ROC curve of ${count(roc.length)} points${auc === null ? '' : `, area ${auc.toFixed(3)}`}`;
  const picture = draw(
    'svg',
    { class: 'roc', viewBox: '0 0 160 160', role: 'img', 'aria-label': said },
    draw('path', { class: 'frame', d: 'M10 10 V150 H150' }),
    draw('path', { class: 'chance', d: 'M10 150 L150 10' }),
    draw('polyline', { points: points.join(' ') }),
    dots,
  );
  return make('figure', {}, picture, make('figcaption', {}, 'ROC: found over false alarms'));
}

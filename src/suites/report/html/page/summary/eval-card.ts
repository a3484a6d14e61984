import type { Classification, EvalHeader, EvalStats, Interval, Stats } from '../../../../record.ts';
import { button, draw, factList, fold, foreign, make } from '../dom.ts';
import { count, counted, duration, mean, meanWithError, percent, percentInterval } from '../format.ts';
import type { View } from '../list/view.ts';

/** Shows the cases of a filter. */
export type Choose = (part: Partial<View>) => void;

/** What the cases came to under one eval. */
export function renderEvalCard(about: EvalHeader, stats: EvalStats, choose: Choose) {
  const { classification, tags, histogram } = stats;
  const isMetric = about.role === 'metric';
  const more = [
    ...(classification === undefined ? [] : [renderClassification(classification)]),
    ...renderTags(tags, about.id, choose),
  ];
  return make(
    'article',
    { class: 'card', 'aria-label': about.id },
    make(
      'div',
      { class: 'card-part' },
      renderHead(about.id, `${about.type} · ${about.role}`),
      isMetric ? renderMean(stats) : renderRate(stats),
      factList(factsOf(stats, isMetric), 'facts small'),
      ...(stats.scored === 0 ? [] : [drawHistogram(histogram)]),
      ...(isMetric ? [] : linkToFailed(stats, about.id, choose)),
    ),
    ...(more.length === 0 ? [] : [make('div', { class: 'card-part' }, ...more)]),
  );
}

export function renderHead(title: string, kind: string) {
  return make('header', {}, make('h3', {}, foreign(title)), make('p', { class: 'kind' }, foreign(kind)));
}

/** How many passed: what counts of assertions and guardrails. */
export function renderRate({ pass_rate: rate, pass_rate_ci95: interval, passed, count: all }: Stats) {
  const box = make(
    'div',
    { class: 'rate-box' },
    make('p', { class: 'big' }, percent(rate)),
    make('p', { class: 'sub' }, `${count(passed)} of ${counted(all, 'case')} passed`),
  );
  if (rate !== null) box.append(drawRate(rate, interval));
  const range = percentInterval(interval);
  if (range !== null) box.append(make('p', { class: 'sub' }, `95 % interval ${range}`));
  return box;
}

/** What counts of a metric, which nothing has to pass. */
function renderMean({ mean: value, ci95, scored }: Stats) {
  const box = make(
    'div',
    { class: 'rate-box' },
    make('p', { class: 'big' }, mean(value)),
    make('p', { class: 'sub' }, `mean of ${counted(scored, 'score')}`),
  );
  if (value !== null) box.append(drawRate(value, ci95));
  if (ci95 !== null)
    box.append(make('p', { class: 'sub' }, `95 % interval ${mean(ci95[0])} – ${mean(ci95[1])}`));
  return box;
}

function linkToFailed(stats: Stats, evalId: string, choose: Choose) {
  const failed = stats.count - stats.passed;
  if (failed === 0) return [];
  const show = () => choose({ eval: evalId, status: 'failed' });
  return [button(`Show ${count(failed)} not passed`, show, { class: 'link' })];
}

function factsOf(stats: EvalStats, isMetric: boolean): [string, string | null][] {
  const {
    latency_ms: latency,
    queue_ms: queue = null,
    median,
    p10,
    unscored,
    faults = 0,
    flaky,
    pass_at,
    pass_hat,
  } = stats;
  return [
    [isMetric ? 'Mean ± error' : 'Mean', meanWithError(stats)],
    ['Median', mean(median)],
    ['10th percentile', mean(p10)],
    ['Unscored', count(unscored)],
    ['Faults', faults === 0 ? null : count(faults)],
    ['Flaky', flaky === 0 ? null : count(flaky)],
    ...chances('pass@', pass_at),
    ...chances('pass^', pass_hat),
    ['Time, p50 / p99', times(latency)],
    ['Queue, p50 / p99', queue === null || queue.p99 < 0.5 ? null : times(queue)],
  ];
}

function times(latency: EvalStats['latency_ms']) {
  return latency === null ? null : `${duration(latency.p50)} / ${duration(latency.p99)}`;
}

function chances(name: string, byK: Readonly<Record<string, number>> | undefined = {}): [string, string][] {
  const all = Object.entries(byK).filter(([k]) => k !== '1');
  return all.slice(-2).map(([k, chance]) => [`${name}${k}`, percent(chance)]);
}

function renderTags(tags: EvalStats['tags'], evalId: string, choose: Choose) {
  const all = Object.entries(tags);
  if (all.length === 0) return [];
  return [fold(`By tag (${count(all.length)})`, all.length <= 6, renderTagTable(all, evalId, choose))];
}

/** Rows of the tags that are shown; of more, nobody reads them all. */
const MOST_TAGS = 100;

export function renderTagTable(tags: readonly [string, Stats][], evalId: string, choose: Choose) {
  const rows = tags.slice(0, MOST_TAGS).map(([tag, stats]) =>
    make(
      'tr',
      {},
      make(
        'th',
        { scope: 'row' },
        tagButton(tag, () => choose({ tag, eval: evalId, status: 'all' })),
      ),
      make('td', {}, count(stats.count)),
      make('td', {}, percent(stats.pass_rate)),
      make('td', {}, mean(stats.mean)),
      make('td', {}, count(stats.unscored)),
    ),
  );
  const head = ['Tag', 'Cases', 'Passed', 'Mean', 'Unscored'].map((name) =>
    make('th', { scope: 'col' }, name),
  );
  const more = tags.length - MOST_TAGS;
  return make(
    'div',
    { class: 'scroll' },
    make(
      'table',
      { class: 'figures' },
      make('thead', {}, make('tr', {}, ...head)),
      make('tbody', {}, ...rows),
    ),
    ...(more > 0 ? [make('p', { class: 'note' }, `and ${counted(more, 'more tag')}`)] : []),
  );
}

function tagButton(tag: string, act: () => void) {
  const named = button('', act, { class: 'link' });
  named.append(foreign(tag));
  return named;
}

/** How well a guardrail tells what should be flagged from what should not. */
function renderClassification(classification: Classification) {
  const { precision, recall, f1, f2, accuracy, auc, roc } = classification;
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
  return make(
    'div',
    { class: 'classification' },
    renderMatrix(classification),
    figures,
    ...(roc === undefined || roc.length === 0 ? [] : [drawRoc(classification)]),
    ...renderHooks(classification),
  );
}

function renderMatrix({ true_positives, false_positives, true_negatives, false_negatives }: Classification) {
  const head = ['', 'Flagged', 'Let pass'].map((name) => make('th', { scope: 'col' }, name));
  const row = (name: string, ...cells: HTMLElement[]) =>
    make('tr', {}, make('th', { scope: 'row' }, name), ...cells);
  return make(
    'table',
    { class: 'matrix' },
    make('caption', {}, 'Confusion matrix'),
    make('thead', {}, make('tr', {}, ...head)),
    make(
      'tbody',
      {},
      row('Should be flagged', cell(true_positives, 'hit'), cell(false_negatives, 'miss')),
      row('Should pass', cell(false_positives, 'miss'), cell(true_negatives, 'hit')),
    ),
  );
}

function cell(number: number, kind: 'hit' | 'miss') {
  return make('td', { class: number === 0 ? 'zero' : kind }, count(number));
}

function renderHooks({ latency_ms: latencies }: Classification) {
  const rows = Object.entries(latencies).map(([name, { p50, p99 }]) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row' }, foreign(name)),
      make('td', {}, duration(p50)),
      make('td', {}, duration(p99)),
    ),
  );
  if (rows.length === 0) return [];
  const head = ['Hook', 'p50', 'p99'].map((name) => make('th', { scope: 'col' }, name));
  return [
    make(
      'table',
      { class: 'figures' },
      make('thead', {}, make('tr', {}, ...head)),
      make('tbody', {}, ...rows),
    ),
  ];
}

/** How the scores are spread, a bar for each tenth. */
function drawHistogram(bars: readonly number[]) {
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

/** The ROC curve. */
function drawRoc({ roc = [], auc }: Classification) {
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

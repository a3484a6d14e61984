import type { EvalHeader, EvalStats, Stats } from '../../../../run/record.ts';
import { button, factList, fold, foreign, make } from '../dom.ts';
import { count, counted, duration, mean, meanWithError, percent, percentInterval } from '../format.ts';
import type { View } from '../list/view.ts';
import { drawHistogram, drawRate } from './charts.ts';
import { renderClassification } from './classification.ts';

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

import { renderComparisons } from './compare.js';
import { fold, foreign, make } from './dom.js';
import { renderFault } from './fault.js';
import { bounds, count, duration, score } from './format.js';
import { renderGuard } from './guard.js';
import { hasMembers, renderJson } from './json-view.js';
import { renderText } from './long-text.js';
import { mark, verdictOf } from './mark.js';

/** @import { EpochRecord, EvalResult } from '../../../run/record.ts' */
/** @import { Data } from './data.js' */

/**
 * What one eval said of one run of a case; open when it did not pass.
 * @param {Data} data
 * @param {EvalResult} result
 * @param {EpochRecord} epoch
 */
export function renderResult({ header }, result, epoch) {
  const about = header.evals.find(({ id }) => id === result.eval);
  // A metric is recorded and has nothing to pass.
  const isMetric = about?.role === 'metric' && result.score !== null;
  const isFailed = !result.passed && !isMetric;
  const title = make(
    'span',
    { class: 'result-title' },
    ...(isMetric ? [] : [mark(verdictOf(result.passed, result.score === null))]),
    foreign(result.eval, 'result-name'),
    make('small', {}, about === undefined ? '' : `${about.type}, ${about.role}`),
    renderScore(result, isMetric),
  );
  const folded = fold(title, isFailed, ...renderBody(result, epoch, isFailed));
  folded.classList.add('result');
  return folded;
}

/**
 * @param {EvalResult} result
 * @param {boolean} isMetric
 */
function renderScore({ score: value, threshold }, isMetric) {
  const wanted = isMetric ? [] : [' ', make('small', {}, `wanted ${bounds(threshold)}`)];
  return make('span', { class: 'result-score' }, score(value), ...wanted);
}

/**
 * @param {EvalResult} result
 * @param {EpochRecord} epoch
 * @param {boolean} isFailed
 */
function renderBody(result, epoch, isFailed) {
  const { detail, params, data, error, stderr, guard } = result;
  return [
    ...(detail === '' ? [] : [renderText(detail)]),
    ...(error === undefined ? [] : [renderFault(error)]),
    ...(guard === undefined ? [] : [renderGuard(guard)]),
    ...renderComparisons(result.params ?? {}, result.content ?? epoch.content, isFailed),
    ...(result.content === undefined
      ? []
      : [fold('Judged in place of the text', false, renderText(result.content))]),
    ...(params === undefined || !hasMembers(params) ? [] : [fold('Params', false, renderJson(params))]),
    ...(data === undefined || !hasMembers(data) ? [] : [fold('Data', isFailed, renderJson(data))]),
    ...(stderr === undefined
      ? []
      : [fold('Standard error', error !== undefined, renderText(stderr, 'code'))]),
    make('p', { class: 'note' }, sayTime(result)),
  ];
}

/** @param {EvalResult} result */
function sayTime({ duration_ms: ms, queue_ms: queue = 0, attempts }) {
  const waited = queue === 0 ? '' : `, after ${duration(queue)} in the queue`;
  return `${duration(ms)}${waited}${attempts > 1 ? `, ${count(attempts)} attempts` : ''}`;
}

import type { EpochRecord, EvalResult } from '../../../../run/record.ts';
import type { Data } from '../data.ts';
import { fold, foreign, make } from '../dom.ts';
import { bounds, count, duration, score } from '../format.ts';
import { renderComparisons } from './compare.ts';
import { renderFault } from './fault.ts';
import { renderGuard } from './guard.ts';
import { hasMembers, renderJson } from './json-view.ts';
import { renderText } from './long-text.ts';
import { mark, verdictOf } from './mark.ts';

/** What one eval said of one run of a case; open when it did not pass. */
export function renderResult({ header }: Data, result: EvalResult, epoch: EpochRecord) {
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

function renderScore({ score: value, threshold }: EvalResult, isMetric: boolean) {
  const wanted = isMetric ? [] : [' ', make('small', {}, `wanted ${bounds(threshold)}`)];
  return make('span', { class: 'result-score' }, score(value), ...wanted);
}

function renderBody(result: EvalResult, epoch: EpochRecord, isFailed: boolean) {
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

function sayTime({ duration_ms: ms, queue_ms: queue = 0, attempts }: EvalResult) {
  const waited = queue === 0 ? '' : `, after ${duration(queue)} in the queue`;
  return `${duration(ms)}${waited}${attempts > 1 ? `, ${count(attempts)} attempts` : ''}`;
}

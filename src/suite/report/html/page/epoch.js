import { renderConversation } from './conversation.js';
import { make } from './dom.js';
import { renderFault } from './fault.js';
import { count, duration } from './format.js';
import { hasMembers, renderJson } from './json-view.js';
import { renderResult } from './result.js';

/** @import { EpochRecord, SubjectRecord } from '../../../run/record.ts' */
/** @import { Data } from './data.js' */

/**
 * One run of a case: what the evals said of it, and what they judged.
 * @param {Data} data
 * @param {EpochRecord} epoch
 */
export function renderEpoch(data, epoch) {
  const parts = [
    ...(epoch.subject === undefined ? [] : [renderSubject(epoch.subject)]),
    make('h3', {}, 'Results'),
    ...(epoch.results.length === 0 ? [make('p', { class: 'note' }, 'No eval judged this case.')] : []),
    ...epoch.results.map((result) => renderResult(data, result, epoch)),
    ...renderConversation(epoch),
    ...(hasMembers(epoch.metadata) ? [make('h3', {}, 'Metadata'), renderJson(epoch.metadata)] : []),
  ];
  return make('div', { class: 'epoch-body' }, ...parts);
}

/** @param {SubjectRecord} subject */
function renderSubject({ status, duration_ms: ms, queue_ms: queue = 0, cached, attempts, error }) {
  const words = [
    status === 'ok' ? 'The subject answered' : 'The subject failed',
    cached ? ' from the cache' : ` in ${duration(ms)}`,
    queue === 0 ? '' : `, after ${duration(queue)} in the queue`,
    attempts > 1 ? `, after ${count(attempts)} attempts` : '',
    '.',
  ];
  const line = make('p', { class: status === 'ok' ? 'note' : 'note bad' }, words.join(''));
  return error === undefined ? line : make('div', {}, line, renderFault(error));
}

import type { EpochRecord, SubjectRecord } from '../../../../run/record.ts';
import type { Data } from '../data.ts';
import { make } from '../dom.ts';
import { count, duration } from '../format.ts';
import { renderConversation } from './conversation.ts';
import { renderFault } from './fault.ts';
import { hasMembers, renderJson } from './json-view.ts';
import { renderText } from './long-text.ts';
import { renderResult } from './result.ts';
import { renderFields } from './row-fields.ts';

/** One run of a case: the answer first, what the evals said of it, and how it came about. */
export function renderEpoch(data: Data, epoch: EpochRecord) {
  const parts = [
    ...(epoch.subject === undefined ? [] : [renderSubject(epoch.subject)]),
    make('h3', {}, 'Answer'),
    renderText(epoch.content),
    make('h3', {}, 'Results'),
    ...(epoch.results.length === 0 ? [make('p', { class: 'note' }, 'No eval judged this case.')] : []),
    ...epoch.results.map((result) => renderResult(data, result, epoch)),
    ...renderConversation(epoch),
    ...(epoch.variables === undefined
      ? []
      : [make('h3', {}, 'Variables'), renderFields(Object.entries(epoch.variables))]),
    ...(hasMembers(epoch.metadata) ? [make('h3', {}, 'Metadata'), renderJson(epoch.metadata)] : []),
  ];
  return make('div', { class: 'epoch-body' }, ...parts);
}

function renderSubject({
  status,
  duration_ms: ms,
  queue_ms: queue = 0,
  cached,
  attempts,
  error,
}: SubjectRecord) {
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

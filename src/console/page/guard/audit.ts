import { foreign, make, note } from '../../../base/page/dom.ts';
import { count, duration } from '../../../base/page/format.ts';
import { formatUsd } from '../../../base/text/phrases.ts';
import type { AuditedCall } from '../../../contract/decision.ts';
import { at, type Filter, makeFilteredList, makeItem, periods, renderMembers } from '../list.ts';
import type { Page } from '../section.ts';
import { verdictPill } from './decisions.ts';

const outcomes = ['allowed', 'modified', 'denied', 'failed', 'aborted', 'refused'];

const filters: readonly Filter[] = [
  { name: 'key', label: 'Key or caller', placeholder: 'any' },
  { name: 'model', label: 'Model', placeholder: 'any' },
  {
    name: 'outcome',
    label: 'Outcome',
    choices: [['', 'any'], ...outcomes.map((each) => [each, each] as const)],
  },
  { name: 'since', label: 'Since', choices: [['', 'any time'], ...periods] },
];

export function openAudit(main: HTMLElement, page: Page) {
  const body = make('div', { class: 'audit' });
  const list = makeFilteredList<AuditedCall>(main, {
    ...{ page, path: '/guard/audit', filters, body, render: renderCall },
    keyOf: ({ chain = '', seq }) => `${chain} ${seq}`,
    empty: () => note('No calls.'),
    load: async (query, signal) => {
      const { calls, next } = await page.api.get('/audit', { query, signal });
      return { items: calls, next };
    },
  });
  main.append(list.bar, body, list.foot);
  return list;
}

function renderCall(call: AuditedCall) {
  const { outcome, model, provider, caller, usage, cost, times } = call;
  const tokens = usage === null ? '' : `${count(usage.input)} in, ${count(usage.output)} out`;
  const line = make(
    'summary',
    { 'data-row': true },
    at(call.at),
    verdictPill(outcome),
    make('span', { class: 'words' }, foreign(caller)),
    make('span', { class: 'words' }, foreign(model), provider !== null && [' → ', foreign(provider)]),
    make('span', { class: 'time' }, tokens),
    make('span', { class: 'time' }, cost === null ? '' : formatUsd(cost)),
    make('span', { class: 'time' }, duration(times.total)),
  );
  return makeItem(line, 'item', () => renderMembers(call));
}

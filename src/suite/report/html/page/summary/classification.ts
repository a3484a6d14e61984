import type { Classification } from '../../../../run/record.ts';
import { factList, foreign, make } from '../dom.ts';
import { count, duration, mean } from '../format.ts';
import { drawRoc } from './charts.ts';

/** How well a guardrail tells what should be flagged from what should not. */
export function renderClassification(classification: Classification) {
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

import type { CaseRecord } from '../../../../run/record.ts';
import type { Data } from '../data.ts';
import { button, foreign, make } from '../dom.ts';
import { score } from '../format.ts';
import { renderEpoch } from './epoch.ts';
import { mark, verdictOf } from './mark.ts';

/** Several runs of the case: what they came to together, and one of them at a time. */
export function renderEpochs(data: Data, record: CaseRecord) {
  const shown = make('div', { class: 'epoch-shown' });
  const choose = (index: number) => {
    const epoch = record.epochs[index];
    if (epoch !== undefined) shown.replaceChildren(renderEpoch(data, epoch));
    for (const [other, tab] of tabs.entries()) tab.setAttribute('aria-pressed', String(other === index));
  };
  const tabs = record.epochs.map(({ epoch, results }, index) => {
    const passed = results.every((result) => result.passed || isMetric(data, result.eval));
    const unscored = results.some((result) => result.score === null);
    const tab = button('', () => choose(index), { class: 'chip epoch' });
    tab.append(mark(verdictOf(passed, unscored)), `Epoch ${epoch}`);
    return tab;
  });
  const firstFailed = record.epochs.findIndex(({ results }) => results.some((result) => !result.passed));
  choose(Math.max(0, firstFailed));
  const group = make('div', { class: 'chips', role: 'group', 'aria-label': 'Epochs' }, ...tabs);
  return [renderReduced(data, record), group, shown];
}

function isMetric({ header }: Data, id: string) {
  return header.evals.some((known) => known.id === id && known.role === 'metric');
}

function renderReduced({ header }: Data, { results, epochs }: CaseRecord) {
  const rows = results.map((result) => {
    const reducer = header.evals.find(({ id }) => id === result.eval)?.reducer ?? '';
    return make(
      'tr',
      {},
      make(
        'th',
        { scope: 'row' },
        mark(verdictOf(result.passed, result.score === null)),
        foreign(result.eval),
      ),
      make('td', {}, `${score(result.score)} `, make('small', {}, reducer)),
      make('td', {}, `${result.passed_epochs} of ${epochs.length}`),
    );
  });
  const head = ['Eval', 'Score', 'Epochs passed'].map((name) => make('th', { scope: 'col' }, name));
  return make(
    'table',
    { class: 'figures' },
    make('thead', {}, make('tr', {}, ...head)),
    make('tbody', {}, ...rows),
  );
}

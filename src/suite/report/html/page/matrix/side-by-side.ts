import { pill, verdictOf } from '../case/mark.ts';
import { renderRow } from '../case/row-fields.ts';
import type { Data, Detail, Entry } from '../data.ts';
import { button, foreign, make } from '../dom.ts';
import { count } from '../format.ts';
import { hasUnscored } from '../list/filter.ts';
import {
  type Column,
  promptOf,
  renderAnswers,
  renderAsked,
  renderResult,
  renderWhole,
  resultOf,
  sayTaken,
  toColumn,
} from './column.ts';
import { variantOf } from './group.ts';

/** What each variant came to in one row: a column for each, of which what all have alike may be left out. */
export function renderSideBySide(data: Data, { variants }: Entry) {
  const columns = variants.map((entry) => toColumn(data, entry));
  const first = columns.find(({ record }) => record !== null)?.record ?? null;
  const table = make('div', { class: 'side-scroll', tabindex: 0, role: 'region', 'aria-label': 'Variants' });
  let isShort = true;
  const toggle = button('', () => show(!isShort), { class: 'chip' });
  const show = (short: boolean) => {
    isShort = short;
    toggle.textContent = 'Only what differs';
    toggle.setAttribute('aria-pressed', String(short));
    table.replaceChildren(renderColumns(data, columns, short));
  };
  show(true);
  return [
    ...(first === null ? [] : renderPlace(first)),
    ...(first === null ? [] : renderRow(first)),
    make('div', { class: 'chips' }, toggle),
    table,
  ];
}

function renderPlace({ file, line, number }: Detail) {
  return [make('p', { class: 'place' }, foreign(`${file}:${line}`), ` · row ${count(number)}`)];
}

function renderColumns(data: Data, columns: readonly Column[], isShort: boolean) {
  const evals = data.header.evals.filter(
    ({ id }) => !isShort || differs(columns, (column) => resultOf(column, id)),
  );
  const same = data.header.evals.length - evals.length;
  const rows = [
    rowOf('Answer', columns, ({ record }) => renderAnswers(record)),
    ...evals.map(({ id }) => rowOf(id, columns, (column) => renderResult(column, id))),
    ...(isShort && !differs(columns, promptOf)
      ? []
      : [rowOf('Asked', columns, ({ record }) => renderAsked(record))]),
    rowOf('Took', columns, ({ record }) => [make('span', {}, sayTaken(record))]),
    ...(columns.every(({ ratings }) => ratings.length === 0)
      ? []
      : [rowOf('Ratings', columns, ({ ratings }) => ratings)]),
    rowOf('', columns, ({ record }) => renderWhole(data, record)),
  ];
  const head = columns.map(({ entry }) =>
    make(
      'th',
      { scope: 'col' },
      foreign(variantOf(data, entry) ?? ''),
      ' ',
      pill(verdictOf(entry.passed, hasUnscored(entry))),
    ),
  );
  const table = make(
    'table',
    { class: 'side' },
    make('thead', {}, make('tr', {}, make('td', {}), ...head)),
    make('tbody', {}, ...rows),
  );
  const note = same === 0 ? [] : [make('p', { class: 'note' }, sayAlike(same))];
  return make('div', {}, table, ...note);
}

function sayAlike(evals: number) {
  return `${count(evals)} ${evals === 1 ? 'eval says' : 'evals say'} the same of all variants.`;
}

function rowOf(name: string, columns: readonly Column[], cell: (column: Column) => readonly Node[]) {
  const cells = columns.map((column) => make('td', {}, ...cell(column)));
  return make('tr', {}, make('th', { scope: 'row' }, foreign(name)), ...cells);
}

function differs(columns: readonly Column[], read: (column: Column) => unknown) {
  const [first, ...others] = columns.map((column) => JSON.stringify(read(column) ?? null));
  return others.some((other) => other !== first);
}

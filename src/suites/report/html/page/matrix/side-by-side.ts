import type { EpochRecord } from '../../../../record.ts';
import { renderEpoch, renderRow } from '../case/epoch.ts';
import { renderRatings } from '../case/ratings.ts';
import { mark, pill, renderFault, renderText, verdictOf } from '../case/text.ts';
import { type Data, type Detail, type Entry, readDetail } from '../data.ts';
import { button, fold, foreign, make } from '../dom.ts';
import { count, duration, score } from '../format.ts';
import { hasUnscored } from '../list/view.ts';
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

/** What one variant came to in one row. */
interface Column {
  readonly entry: Entry;
  readonly record: Detail | null;
  /** Made once, so that what is being written stays when columns are laid out anew. */
  readonly ratings: readonly HTMLElement[];
}

function toColumn(data: Data, entry: Entry): Column {
  const record = readDetail(entry);
  const variant = variantOf(data, entry);
  const ratings =
    record === null || variant === undefined ? [] : renderRatings(data, { case: record.id, variant });
  return { entry, record, ratings };
}

/** What an eval said, without times. */
function resultOf({ record }: Column, id: string) {
  const result = record?.results.find((each) => each.eval === id);
  return result && [result.score, result.passed, result.detail];
}

/** The system prompt and what else stood before the answer. */
function promptOf({ record }: Pick<Column, 'record'>) {
  const messages = record?.epochs[0]?.messages ?? [];
  const end = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(0, end + 1).map(({ role, content }) => [role, content]);
}

function renderAnswers(record: Detail | null) {
  if (record === null) return [make('p', { class: 'note' }, 'Left out to keep the page small.')];
  return record.epochs.flatMap(({ content, subject }, index) => [
    ...(record.epochs.length === 1 ? [] : [make('h3', {}, `Epoch ${index + 1}`)]),
    subject?.error === undefined ? renderText(content) : renderFault(subject.error),
  ]);
}

function renderResult({ record }: Column, id: string) {
  const result = record?.results.find((each) => each.eval === id);
  if (result === undefined) return [make('p', { class: 'note' }, 'Not judged.')];
  return [
    make('p', {}, mark(verdictOf(result.passed, result.score === null)), ` ${score(result.score)}`),
    ...(result.detail === '' ? [] : [renderText(result.detail)]),
  ];
}

function renderAsked(record: Detail | null) {
  return promptOf({ record }).map(([role = '', content = '']) =>
    make('div', {}, make('small', {}, foreign(role)), renderText(content)),
  );
}

function sayTaken(record: Detail | null) {
  const epochs = record?.epochs ?? [];
  const tokens = (key: string) => sumOf(epochs.map(({ metadata }) => metadata[key]));
  const [input, output, cost] = ['input_tokens', 'output_tokens', 'cost_usd'].map(tokens);
  return [
    duration(epochs.reduce((sum, { subject }: EpochRecord) => sum + (subject?.duration_ms ?? 0), 0)),
    input === null && output === null ? '' : `${count(input ?? 0)} + ${count(output ?? 0)} tokens`,
    cost === null || cost === undefined ? '' : `$${Number(cost.toPrecision(4))}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function sumOf(values: readonly unknown[]): number | null {
  const known = values.flatMap((value) => (typeof value === 'number' ? [value] : []));
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

function renderWhole(data: Data, record: Detail | null) {
  if (record === null) return [];
  const body = make('div', {});
  const whole = fold('Everything', false, body);
  whole.addEventListener('toggle', () => {
    if (whole.open && body.childElementCount === 0) {
      body.append(...record.epochs.map((epoch) => renderEpoch(data, epoch)));
    }
  });
  return [whole];
}

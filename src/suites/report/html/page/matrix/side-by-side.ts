import {
  button,
  type Child,
  flat,
  fold,
  foreign,
  make,
  note,
  row,
  table,
} from '../../../../../base/page/dom.ts';
import { count, duration, score } from '../../../../../base/page/format.ts';
import { mark, pill, renderFault, renderText, verdictOf } from '../../../../../base/page/text.ts';
import { renderEpoch, renderRow } from '../case/epoch.ts';
import { renderRatings } from '../case/ratings.ts';
import { type Data, type Detail, type Entry, readDetail } from '../data.ts';
import { hasUnscored } from '../list/view.ts';
import { variantOf } from './group.ts';

/** One column per variant; equal parts can be hidden. */
export function renderSideBySide(data: Data, { variants }: Entry): Child {
  const columns = variants.map((entry) => toColumn(data, entry));
  const first = columns.find(({ record }) => record !== null)?.record ?? null;
  const shown = make('div', { class: 'side-scroll', tabindex: 0, role: 'region', 'aria-label': 'Variants' });
  let isShort = true;
  const toggle = button('Only differences', () => show(!isShort), { class: 'chip' });
  const show = (short: boolean) => {
    isShort = short;
    toggle.setAttribute('aria-pressed', String(short));
    shown.replaceChildren(renderColumns(data, columns, short));
  };
  show(true);
  return [
    first !== null && [
      make('p', { class: 'place' }, foreign(`${first.file}:${first.line}`), ` · row ${count(first.number)}`),
      renderRow(first),
    ],
    make('div', { class: 'chips' }, toggle),
    shown,
  ];
}

function renderColumns(data: Data, columns: readonly Column[], isShort: boolean) {
  const line = (name: string, cell: (column: Column) => Child) => row(foreign(name), ...columns.map(cell));
  const differs = (read: (column: Column) => unknown) => {
    const [one, ...others] = columns.map((column) => JSON.stringify(read(column) ?? null));
    return others.some((other) => other !== one);
  };
  const saidBy = (id: string) => (column: Column) => {
    const result = resultOf(column, id);
    return result && [result.score, result.passed, result.detail];
  };
  const evals = data.header.evals.filter(({ id }) => !isShort || differs(saidBy(id)));
  const same = data.header.evals.length - evals.length;
  const rows = [
    line('Answer', ({ record }) => renderAnswers(record)),
    evals.map(({ id }) =>
      line(id, (column) => {
        const result = resultOf(column, id);
        if (result === undefined) return note('Not judged.');
        const verdict = mark(verdictOf(result.passed, result.score === null));
        return [
          make('p', {}, verdict, ` ${score(result.score)}`),
          result.detail !== '' && renderText(result.detail),
        ];
      }),
    ),
    (!isShort || differs(promptOf)) &&
      line('Asked', (column) =>
        promptOf(column).map(([role = '', content = '']) =>
          make('div', {}, make('small', {}, foreign(role)), renderText(content)),
        ),
      ),
    line('Took', ({ record }) => make('span', {}, sayTaken(record))),
    columns.some(({ ratings }) => ratings.length > 0) && line('Ratings', ({ ratings }) => ratings),
    line('', ({ record }) => record !== null && renderWhole(data, record)),
  ];
  const heads = columns.map(({ entry }) => {
    const verdict = pill(verdictOf(entry.passed, hasUnscored(entry)));
    return make('th', { scope: 'col' }, foreign(variantOf(data, entry) ?? ''), ' ', verdict);
  });
  return make(
    'div',
    {},
    table('side', [make('td', {}), ...heads], rows),
    same > 0 && note(`${count(same)} ${same === 1 ? 'eval says' : 'evals say'} the same of all variants.`),
  );
}

interface Column {
  readonly entry: Entry;
  readonly record: Detail | null;
  /** Created once, so that an unsent form survives a new layout. */
  readonly ratings: readonly (Node | string)[];
}

function toColumn(data: Data, entry: Entry): Column {
  const record = readDetail(entry);
  const variant = variantOf(data, entry);
  const ratings =
    record !== null && variant !== undefined && renderRatings(data, { case: record.id, variant });
  return { entry, record, ratings: flat([ratings]) };
}

function resultOf({ record }: Column, id: string) {
  return record?.results.find((each) => each.eval === id);
}

function promptOf({ record }: Column) {
  const messages = record?.epochs[0]?.messages ?? [];
  const end = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(0, end + 1).map(({ role, content }) => [role, content]);
}

function renderAnswers(record: Detail | null): Child {
  if (record === null) return note('Left out to keep the page small.');
  return record.epochs.map(({ content, subject }, index) => [
    record.epochs.length > 1 && make('h3', {}, `Epoch ${index + 1}`),
    subject?.error === undefined ? renderText(content) : renderFault(subject.error),
  ]);
}

function sayTaken(record: Detail | null) {
  const epochs = record?.epochs ?? [];
  const sumOf = (key: string): number | null => {
    const known = epochs.flatMap(({ metadata }) =>
      typeof metadata[key] === 'number' ? [metadata[key]] : [],
    );
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
  };
  const [input, output, cost] = [sumOf('input_tokens'), sumOf('output_tokens'), sumOf('cost_usd')];
  return [
    duration(epochs.reduce((sum, { subject }) => sum + (subject?.duration_ms ?? 0), 0)),
    ...(input === null && output === null ? [] : [`${count(input ?? 0)} + ${count(output ?? 0)} tokens`]),
    ...(cost === null ? [] : [`$${Number(cost.toPrecision(4))}`]),
  ].join(', ');
}

function renderWhole(data: Data, record: Detail) {
  const body = make('div', {});
  const whole = fold('Everything', false, body);
  whole.addEventListener('toggle', () => {
    if (!whole.open || body.childElementCount > 0) return;
    body.append(...record.epochs.map((epoch) => renderEpoch(data, epoch)));
  });
  return whole;
}

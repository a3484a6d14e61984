import type { EpochRecord } from '../../../../run/record.ts';
import { renderEpoch } from '../case/epoch.ts';
import { renderFault } from '../case/fault.ts';
import { renderText } from '../case/long-text.ts';
import { mark, verdictOf } from '../case/mark.ts';
import { renderRatings } from '../case/ratings.ts';
import type { Data, Detail, Entry } from '../data.ts';
import { readDetail } from '../data.ts';
import { fold, foreign, make } from '../dom.ts';
import { count, duration, score } from '../format.ts';
import { variantOf } from './group.ts';

/** What one variant came to in one row. */
export interface Column {
  readonly entry: Entry;
  readonly record: Detail | null;
  /** Made once, so that what is being written stays when columns are laid out anew. */
  readonly ratings: readonly HTMLElement[];
}

export function toColumn(data: Data, entry: Entry): Column {
  const record = readDetail(entry);
  const variant = variantOf(data, entry);
  const ratings =
    record === null || variant === undefined ? [] : renderRatings(data, { case: record.id, variant });
  return { entry, record, ratings };
}

/** What an eval said, without times. */
export function resultOf({ record }: Column, id: string) {
  const result = record?.results.find((each) => each.eval === id);
  return result && [result.score, result.passed, result.detail];
}

/** The system prompt and what else stood before the answer. */
export function promptOf({ record }: Pick<Column, 'record'>) {
  const messages = record?.epochs[0]?.messages ?? [];
  const end = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(0, end + 1).map(({ role, content }) => [role, content]);
}

export function renderAnswers(record: Detail | null) {
  if (record === null) return [make('p', { class: 'note' }, 'Left out to keep the page small.')];
  return record.epochs.flatMap(({ content, subject }, index) => [
    ...(record.epochs.length === 1 ? [] : [make('h3', {}, `Epoch ${index + 1}`)]),
    subject?.error === undefined ? renderText(content) : renderFault(subject.error),
  ]);
}

export function renderResult({ record }: Column, id: string) {
  const result = record?.results.find((each) => each.eval === id);
  if (result === undefined) return [make('p', { class: 'note' }, 'Not judged.')];
  return [
    make('p', {}, mark(verdictOf(result.passed, result.score === null)), ` ${score(result.score)}`),
    ...(result.detail === '' ? [] : [renderText(result.detail)]),
  ];
}

export function renderAsked(record: Detail | null) {
  return promptOf({ record }).map(([role = '', content = '']) =>
    make('div', {}, make('small', {}, foreign(role)), renderText(content)),
  );
}

export function sayTaken(record: Detail | null) {
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

export function renderWhole(data: Data, record: Detail | null) {
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

import type { Cut } from '../../../../../json/cut-value.ts';
import type { Detail } from '../data.ts';
import { fold, foreign, make } from '../dom.ts';
import { count, counted } from '../format.ts';
import { toPrettyJson } from './json-view.ts';
import { renderText } from './long-text.ts';

/** The row of the case with its own fields, and what was cut of the case. */
export function renderRow({ row, row_cuts: kept = [], page_cuts: cuts = [] }: Detail) {
  const fields = row === undefined ? [] : Object.entries(row);
  return [
    ...renderCuts('To keep this page small, this case is cut:', cuts),
    ...renderCuts('Of this row the beginnings were kept:', kept),
    ...(fields.length === 0 ? [] : [fold(titleOf(fields.length), true, renderFields(fields))]),
  ];
}

/** Fields by their names: texts as they stand, other values as JSON. */
export function renderFields(fields: readonly (readonly [name: string, value: unknown])[]) {
  const items = fields
    .slice(0, MOST_FIELDS)
    .map(([name, value]) =>
      make('div', {}, make('dt', {}, foreign(name)), make('dd', {}, renderValue(value))),
    );
  const more = fields.length - MOST_FIELDS;
  const list = make('dl', { class: 'fields' }, ...items);
  return more > 0
    ? make('div', {}, list, make('p', { class: 'note' }, `and ${counted(more, 'more field')}`))
    : list;
}

/** Fields that are shown; of more, nobody reads them all. */
const MOST_FIELDS = 200;

function titleOf(fields: number) {
  return `Row (${counted(fields, 'field')})`;
}

function renderValue(value: unknown) {
  return typeof value === 'string' ? renderText(value) : renderText(toPrettyJson(value), 'code');
}

function renderCuts(words: string, cuts: readonly Cut[]) {
  if (cuts.length === 0) return [];
  const shown = cuts
    .slice(0, MOST_CUTS)
    .flatMap(({ path, unit, kept, length }, index) => [
      index === 0 ? ' ' : ', ',
      make('code', {}, foreign(path)),
      ` to ${count(kept)} of ${count(length)} ${unit}`,
    ]);
  const more = cuts.length > MOST_CUTS ? ', and more' : '';
  return [
    make('p', { class: 'note cut' }, words, ...shown, `${more}. signalbox eval show has all that was kept.`),
  ];
}

const MOST_CUTS = 10;

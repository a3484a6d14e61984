import { styleText } from 'node:util';
import { cut, padEnd, padStart, textWidth } from '../../../base/text/width.ts';

/** A column of a table on a terminal. */
export interface Column {
  readonly title: string;
  /** Where the table is too wide, the column of the lowest number goes first; the first column stays. */
  readonly priority: number;
}

export interface GridRow {
  readonly cells: readonly string[];
  /** Of its first cell. */
  readonly style?: Style;
}

export interface GridView {
  readonly paint: Paint;
  /** Characters to a line, from 20; undefined when there may be any number. */
  readonly columns: number | undefined;
}

/**
 * Whether a reported width is usable; a terminal that reports less than 20 columns does not know its width.
 */
export function isReadable(columns: number | undefined): columns is number {
  return columns !== undefined && columns >= minColumns;
}

/** The width to render for: at least 20 columns, since less would cut every name and number. */
export function toReadable(columns: number | undefined): number | undefined {
  return columns === undefined ? undefined : Math.max(minColumns, columns);
}

const minColumns = 20;

/**
 * The lines of a table with a line of titles, the first column left-aligned, the others right. Columns without a
 * single text are left out; what does not fit is dropped, and at last the first column is cut.
 */
export function renderGrid(columns: readonly Column[], rows: readonly GridRow[], view: GridView): string[] {
  const room = toReadable(view.columns);
  const fitting = dropColumns(measure(columns, rows), room);
  const width = fitting.reduce((sum, column) => sum + column.width + gap.length, -gap.length);
  const excess = Math.max(0, width - (room ?? width));
  const shown = fitting.map((column, index) =>
    index === 0 ? { ...column, width: Math.max(minNameWidth, column.width - excess) } : column,
  );
  const titles = shown.map((column, index) => align(column.title, column.width, index));
  return [
    view.paint('dim', titles.join(gap)),
    ...rows.map(({ cells, style }) => {
      const [first = '', ...rest] = shown.map(({ at, width: room }, index) =>
        align(cells[at] ?? '', room, index),
      );
      return [style === undefined ? first : view.paint(style, first), ...rest].join(gap);
    }),
  ];
}

const gap = '  ';
const minNameWidth = 4;

interface MeasuredColumn extends Column {
  /** Its place among the cells of a row. */
  readonly at: number;
  readonly width: number;
}

function measure(columns: readonly Column[], rows: readonly GridRow[]): MeasuredColumn[] {
  return columns
    .map((column, at) => {
      const widest = rows.reduce((most, { cells }) => Math.max(most, textWidth(cells[at] ?? '')), 0);
      return { ...column, at, isEmpty: widest === 0, width: Math.max(widest, textWidth(column.title)) };
    })
    .filter(({ at, isEmpty }) => at === 0 || !isEmpty);
}

function dropColumns(
  columns: readonly MeasuredColumn[],
  room: number | undefined,
): readonly MeasuredColumn[] {
  const width = columns.reduce((sum, column) => sum + column.width + gap.length, -gap.length);
  if (room === undefined || width <= room) return columns;
  const lowest = columns.slice(1).toSorted((a, b) => a.priority - b.priority)[0];
  return lowest === undefined
    ? columns
    : dropColumns(
        columns.filter((column) => column !== lowest),
        room,
      );
}

function align(text: string, width: number, index: number): string {
  const shown = cut(text, width);
  return index === 0 ? padEnd(shown, width) : padStart(shown, width);
}

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';
/** The text in that style, or as it is where styles are not shown. */
export type Paint = (style: Style, text: string) => string;

export function createPaint(hasColour: boolean): Paint {
  return hasColour
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_style, text) => text;
}

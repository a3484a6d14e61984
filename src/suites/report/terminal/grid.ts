import { styleText } from 'node:util';
import { cut, padEnd, padStart, textWidth } from '../../../base/text/width.ts';

/** A column of a table on a terminal. */
interface Column {
  readonly title: string;
  /** Where the table is too wide, the column of the lowest number goes first; the first column stays. */
  readonly priority: number;
}

export interface GridRow {
  readonly cells: readonly string[];
  /** Of its first cell. */
  readonly style?: Style;
}

/** How texts are shown on a terminal, or in a file. */
export interface View {
  /** The text in that style, or as it is where styles are not shown. */
  readonly paint: (style: Style, text: string) => string;
  /** Characters to a line, from 20; infinite when there may be any number. */
  readonly columns: number;
}

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/** `columns`: undefined for any number. Fewer than 20 would cut every name and number, so lines get longer then. */
export function openView(hasColour: boolean, columns = Number.POSITIVE_INFINITY): View {
  return {
    paint: hasColour
      ? (style, text) => styleText(style, text, { validateStream: false })
      : (_style, text) => text,
    columns: Math.max(minColumns, columns),
  };
}

/**
 * Whether a reported width is usable; a terminal that reports less than 20 columns does not know its width.
 */
export function isReadable(columns: number | undefined): columns is number {
  return columns !== undefined && columns >= minColumns;
}

const minColumns = 20;

/**
 * The lines of a table with a line of titles, the first column left-aligned, the others right; none without rows. Columns
 * without a single text are left out; what does not fit is dropped, and at last the first column is cut.
 */
export function renderGrid(columns: readonly Column[], rows: readonly GridRow[], view: View): string[] {
  if (rows.length === 0) return [];
  let shown = columns
    .map((column, at) => {
      const widest = rows.reduce((most, { cells }) => Math.max(most, textWidth(cells[at] ?? '')), 0);
      return { ...column, at, isEmpty: widest === 0, width: Math.max(widest, textWidth(column.title)) };
    })
    .filter(({ at, isEmpty }) => at === 0 || !isEmpty);
  const excess = () => shown.reduce((sum, { width }) => sum + width + gap.length, -gap.length) - view.columns;
  while (excess() > 0 && shown.length > 1) {
    const [lowest] = shown.slice(1).toSorted((a, b) => a.priority - b.priority);
    shown = shown.filter((column) => column !== lowest);
  }
  const [name] = shown;
  if (name !== undefined) name.width = Math.max(minNameWidth, name.width - Math.max(0, excess()));
  const align = (text: string, width: number, index: number): string =>
    (index === 0 ? padEnd : padStart)(cut(text, width), width);
  const titles = shown.map(({ title, width }, index) => align(title, width, index));
  return [
    view.paint('dim', titles.join(gap)),
    ...rows.map(({ cells, style }) => {
      const [first = '', ...rest] = shown.map(({ at, width }, index) => align(cells[at] ?? '', width, index));
      return [style === undefined ? first : view.paint(style, first), ...rest].join(gap);
    }),
  ];
}

const gap = '  ';
const minNameWidth = 4;

/** Sections below one another, with a blank line between; those without lines are left out. */
export function joinSections(sections: readonly (readonly string[])[]): string {
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(''))
    .join('\n');
}

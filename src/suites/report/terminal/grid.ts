import { styleText } from 'node:util';
import { cut, padEnd, padStart, textWidth } from '../../../base/text/width.ts';

interface Column {
  readonly title: string;
  /** If the table is too wide, the column with the lowest priority is dropped first; the first column stays. */
  readonly priority: number;
}

export interface GridRow {
  readonly cells: readonly string[];
  readonly style?: Style;
}

export interface View {
  readonly paint: (style: Style, text: string) => string;
  /** The line width, at least 20; infinite if unlimited. */
  readonly columns: number;
}

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/** Undefined `columns` means unlimited. A width below 20 would cut every name and number, so lines are longer then. */
export function openView(hasColour: boolean, columns = Number.POSITIVE_INFINITY): View {
  return {
    paint: hasColour
      ? (style, text) => styleText(style, text, { validateStream: false })
      : (_style, text) => text,
    columns: Math.max(minColumns, columns),
  };
}

/** A terminal that reports less than 20 columns does not know its width. */
export function isReadable(columns: number | undefined): columns is number {
  return columns !== undefined && columns >= minColumns;
}

const minColumns = 20;

/**
 * Left-aligns the first column and right-aligns the others. Omits empty columns, drops what does not fit, and finally
 * cuts the first column. Empty without rows.
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

export function joinSections(sections: readonly (readonly string[])[]): string {
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(''))
    .join('\n');
}

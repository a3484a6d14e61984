import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { cut, padEnd, textWidth } from '../../base/text/width.ts';

/**
 * Aligns columns two spaces apart and escapes line ends and invisible characters. A narrow `width` continues columns on
 * an indented line and cuts the last one; undefined shows everything.
 */
export function formatColumns(rows: readonly (readonly string[])[], width: number | undefined): string {
  const cells = rows.map((row) => row.map(escapeInvisibleLine));
  const lines = layOut(widthsOf(cells), width ?? Infinity);
  return cells.flatMap((row) => lines.flatMap((line) => render(row, line))).join('\n');
}

interface PlacedColumn {
  readonly at: number;
  readonly width: number;
}

function widthsOf(cells: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of cells) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, textWidth(cell));
  }
  return widths;
}

function layOut(widths: readonly number[], maxWidth: number): PlacedColumn[][] {
  const lines: PlacedColumn[][] = [[]];
  let used = 0;
  for (const [at, wanted] of widths.entries()) {
    const isLast = at === widths.length - 1;
    const room = maxWidth - used;
    if (wanted > room && !(isLast && room >= minLastWidth) && lines.at(-1)?.length !== 0) {
      lines.push([]);
      used = indent.length;
    }
    const width = Math.max(1, Math.min(wanted, maxWidth - used));
    lines.at(-1)?.push({ at, width });
    used += width + gap.length;
  }
  return lines;
}

const gap = '  ';
const indent = '    ';
const minLastWidth = 24;

function render(row: readonly string[], line: readonly PlacedColumn[]): string[] {
  const text = line.map(({ at, width }) => padEnd(cut(row[at] ?? '', width), width)).join(gap);
  if (text.trim() === '') return line[0]?.at === 0 ? [''] : [];
  return [`${line[0]?.at === 0 ? '' : indent}${text}`.trimEnd()];
}

export function formatFields(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}

export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${escapeInvisibleLine(value)}`)
    .join(' ');
}

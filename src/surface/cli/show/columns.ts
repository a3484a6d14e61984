import { visibleLine } from '../../../text/escape-invisible.ts';
import { cut, padEnd, textWidth } from '../../../text/width.ts';
import { openStdoutSink } from '../stdout-sink.ts';

/**
 * Rows as aligned columns, two spaces apart; a cell of several lines becomes one, and shows what would not be seen. Where a terminal is too narrow, columns
 * go on below the others, indented, and the last one is cut: what is longer than a line is in --json, and in a pipe.
 */
export function columns(
  rows: readonly (readonly string[])[],
  width: number | undefined = openStdoutSink(false).columns,
): string {
  const cells = rows.map((row) => row.map(visibleLine));
  const lines = layOut(widthsOf(cells), width ?? Infinity);
  return cells.flatMap((row) => lines.flatMap((line) => render(row, line))).join('\n');
}

/** A column in its place. */
interface Placed {
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

/** Which columns share a line. */
function layOut(widths: readonly number[], most: number): Placed[][] {
  const lines: Placed[][] = [[]];
  let used = 0;
  for (const [at, wanted] of widths.entries()) {
    const isLast = at === widths.length - 1;
    const room = most - used;
    if (wanted > room && !(isLast && room >= least) && lines.at(-1)?.length !== 0) {
      lines.push([]);
      used = indent.length;
    }
    const width = Math.max(1, Math.min(wanted, most - used));
    lines.at(-1)?.push({ at, width });
    used += width + gap.length;
  }
  return lines;
}

const gap = '  ';
const indent = '    ';
/** Columns in which a text still says something. */
const least = 24;

/** No line where there is nothing to say on it. */
function render(row: readonly string[], line: readonly Placed[]): string[] {
  const text = line.map(({ at, width }) => padEnd(cut(row[at] ?? '', width), width)).join(gap);
  if (text.trim() === '') return line[0]?.at === 0 ? [''] : [];
  return [`${line[0]?.at === 0 ? '' : indent}${text}`.trimEnd()];
}

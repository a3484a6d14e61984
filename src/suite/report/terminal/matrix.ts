import { escapeShownLine as oneLine } from '../../../text/escape-commands.ts';
import { cut, textWidth } from '../../../text/width.ts';
import type { RunSummary } from '../../run/record.ts';
import { type MatrixRow, matrixRows } from '../matrix-rows.ts';
import { type GridView, renderGrid } from './grid.ts';

/**
 * The variants of a matrix side by side; as many tables below one another as its width needs, and where not even one
 * variant fits, a list of each.
 */
export function renderMatrix(report: RunSummary, view: GridView): string[][] {
  const variants = report.variants ?? [];
  const shown = cutApart(variants.map(({ name }) => oneLine(name)));
  const names = variants.map(({ status }, index) => `${shown[index] ?? ''} ${marks[status]}`);
  const rows = matrixRows(report).map((row) => ({ ...row, name: cut(oneLine(row.name), longestName) }));
  const labels = widest(rows.map(({ name }) => name)) + gap + widest(rows.map(({ measure }) => measure));
  const widths = names.map(
    (name, index) => gap + widest([name, ...rows.map(({ cells }) => cells[index] ?? '')]),
  );
  const { columns = Number.POSITIVE_INFINITY } = view;
  if (labels + Math.max(0, ...widths) > columns) {
    return names.map((name, index) => renderAlone({ name, index }, rows, view));
  }
  return fittingParts(widths, columns - labels).map((part) =>
    renderGrid(
      ['', '', ...part.map((index) => names[index] ?? '')].map((title) => ({ title, priority: 0 })),
      rows.map(({ name, measure, cells }) => ({
        cells: [name, measure, ...part.map((index) => cells[index] ?? '')],
        style: 'bold' as const,
      })),
      view,
    ),
  );
}

/** Names of columns; where cut names would be the same, what the names begin with in common is left out. */
function cutApart(names: readonly string[]): string[] {
  const short = names.map((name) => cut(name, longestName));
  if (new Set(short).size === names.length) return short;
  const [first = '', ...others] = names;
  let common = 0;
  while (common < first.length && others.every((name) => name[common] === first[common])) common += 1;
  // The whole of the last word in common tells more than the letters in which it differs.
  const from = Math.max(0, first.slice(0, common).search(/[^\p{L}\p{N}][\p{L}\p{N}]*$/u));
  const rest = names.map((name) => cut(from === 0 ? name : `…${name.slice(from)}`, longestName));
  return new Set(rest).size === names.length
    ? rest
    : names.map((name, index) => `${index + 1} ${cut(name, longestName - 3)}`);
}

const longestName = 30;
const marks = { passed: '✓', failed: '✗', error: '!' } as const;
const gap = 2;

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => textWidth(text)));
}

/** The variants by the tables that they stand in, each of which fits the room. */
function fittingParts(widths: readonly number[], room: number): number[][] {
  const parts: number[][] = [];
  let left = 0;
  for (const [index, width] of widths.entries()) {
    if (parts.length === 0 || width > left) {
      parts.push([]);
      left = room;
    }
    parts.at(-1)?.push(index);
    left -= width;
  }
  return parts;
}

/** A line for each measure of one variant, the value behind its name. */
function renderAlone(
  { name, index }: { readonly name: string; readonly index: number },
  rows: readonly MatrixRow[],
  { paint, columns = Number.POSITIVE_INFINITY }: GridView,
): string[] {
  const lines = rows.flatMap(({ name: block, measure, cells }) => {
    const cell = cells[index] ?? '';
    return [...(block === '' ? [] : [block]), ...(cell === '' ? [] : [`  ${measure} ${cell}`])];
  });
  return [paint('bold', cut(name, columns)), ...lines.map((line) => cut(line, columns))];
}

import { cut, padEnd, textWidth } from '../../base/text/width.ts';

/** A name and a value, which may have several lines. */
export type Field = readonly [name: string, value: string];

/**
 * Indented lines of names and values. On a terminal a value takes at most three lines of its width; without a width it is
 * whole, its further lines below its first.
 */
export function formatBlock(fields: readonly Field[], width: number | undefined): string {
  const nameWidth = Math.max(0, ...fields.map(([name]) => name.length));
  const indent = ' '.repeat(2 + nameWidth + 2);
  return fields
    .map(([name, value]) => {
      const lines =
        width === undefined ? value.split('\n') : shortLines(value, Math.max(20, width - indent.length));
      return `  ${padEnd(name, nameWidth)}  ${lines.join(`\n${indent}`)}`.trimEnd();
    })
    .join('\n');
}

const MOST_LINES = 3;

/** The first lines of a text, each as wide as there is room, the last one cut. */
function shortLines(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    let rest = line;
    do {
      if (lines.length === MOST_LINES - 1) return [...lines, cut(rest, columns)];
      const part = fitting(rest, columns);
      lines.push(part);
      rest = rest.slice(part.length);
    } while (rest !== '');
  }
  return lines;
}

/** As much of the beginning as fits; at least one character. */
function fitting(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let end = 0;
  let used = 0;
  for (const character of text) {
    used += textWidth(character);
    if (used > columns && end > 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

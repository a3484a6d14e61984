import { escapeInvisibleLine as oneLine } from '../../text/escape-invisible.ts';

/**
 * The text on one line as a code span, in which nothing is markup, a link or a mention; fit for a cell of a table.
 * Empty for an empty text.
 */
export function toCode(text: string): string {
  const line = oneLine(text.toWellFormed());
  if (line === '') return '';
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const inner = line.startsWith('`') || line.endsWith('`') ? ` ${line} ` : line;
  return `${fence}${escapePipes(inner)}${fence}`;
}

/** Implementations do not agree on two backslashes before a pipe, so there is never more than one. */
function escapePipes(text: string): string {
  return text.replaceAll(/\\(?=\|)/g, '\\ ').replaceAll('|', '\\|');
}

/** What stands at the end of a text that had to be cut. */
export const cutNote = '_The rest is left out: this text may not be longer._';

/** The lines of a table, with the columns of those indices on the right; none when it has no rows. */
export function renderTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = titles.map((_title, index) => (right.includes(index) ? '---:' : '---'));
  return [line(titles), line(rule), ...rows.map(line)];
}

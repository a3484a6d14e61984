import { oneLine } from './terminal/text-width.ts';

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

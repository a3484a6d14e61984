// Lines of CSV, for reports and for the page: nothing here may need Node.

export type Cell = string | number | boolean | null | undefined;

/** A line of RFC 4180 in which no text is a formula. */
export function toLine(cells: readonly Cell[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

function toCell(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  const text = escapeFormula(cell);
  return /[",;\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A spreadsheet takes a text that begins like this for a formula, and runs it; one apostrophe more in front of it
 * prevents that. Texts that have apostrophes there already get one too, so that it can be taken away again.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
function escapeFormula(text: string): string {
  return /^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
}

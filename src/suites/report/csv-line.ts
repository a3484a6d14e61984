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

/** Fields of a row that have a column of their own; a spreadsheet with more is not read by people. */
export const mostFields = 100;

/** Characters that a cell of a spreadsheet holds at most, as Excel has it. */
const longestCell = 32_767;

/** A cut text says so, since nothing else would. */
export function cutCell(text: string): string {
  if (text.length <= longestCell) return text;
  const note = `… (cut: ${text.length} characters)`;
  // Half of a surrogate pair cannot be written.
  return `${text.slice(0, longestCell - note.length).replace(/[\uD800-\uDBFF]$/, '\uFFFD')}${note}`;
}

// CSV lines for reports and the HTML page. Must not import Node modules.

export type Cell = string | number | boolean | null | undefined;

/** Formats an RFC 4180 line and neutralizes formulas. */
export function toLine(cells: readonly Cell[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

function toCell(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  const text = escapeFormula(cell);
  return /[",;\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Spreadsheets run a text with such a prefix as a formula unless an apostrophe precedes it. Texts with leading
 * apostrophes get one more, so that the change is reversible. https://owasp.org/www-community/attacks/CSV_Injection
 */
function escapeFormula(text: string): string {
  return /^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
}

/** The maximum number of row fields with their own column. */
export const mostFields = 100;

/** Excel's limit of characters in a cell. */
const longestCell = 32_767;

export function cutCell(text: string): string {
  if (text.length <= longestCell) return text;
  const note = `… (cut: ${text.length} characters)`;
  // A lone surrogate cannot be encoded.
  return `${text.slice(0, longestCell - note.length).replace(/[\uD800-\uDBFF]$/, '\uFFFD')}${note}`;
}

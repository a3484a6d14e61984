import { stringifyJson } from '../../../json/json.ts';

/** The kinds of lines in a data block; each line is its kind, a space and JSON. */
export type LineKind = 'header' | 'served' | 'row' | 'detail' | 'problem' | 'rating' | 'notice' | 'report';

/** Writes a value as one line, as `embedJson` does. Throws RangeError when the value is nested too deeply. */
export function embedLine(kind: LineKind, value: unknown): string {
  return `${kind} ${embedJson(value)}\n`;
}

/**
 * Writes a value as JSON without line ends that is safe inside a script element: `<` and lone surrogates are
 * escaped. Numbers keep all their digits. Throws RangeError when the value is nested too deeply.
 */
export function embedJson(value: unknown): string {
  return stringifyJson(value)
    .replaceAll('<', '\\u003c')
    .replaceAll(/[\r\n]/g, ' ')
    .replaceAll(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

/** Plain text as HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

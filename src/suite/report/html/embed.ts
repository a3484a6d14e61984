import { stringifyJson } from '../../../json/json.ts';

/** A line of a data block: what it is, and its JSON. */
export type LineKind = 'header' | 'row' | 'detail' | 'problem' | 'notice' | 'report';

/**
 * One line of JSON that no text in it can lead out of a script element: `<` stands escaped. Numbers keep all their
 * digits, lone surrogates are escaped. Throws RangeError when the value is nested too deeply to be written.
 */
export function embedLine(kind: LineKind, value: unknown): string {
  const json = stringifyJson(value)
    .replaceAll('<', '\\u003c')
    .replaceAll(/[\r\n]/g, ' ')
    .replaceAll(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
  return `${kind} ${json}\n`;
}

/** Plain text as HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

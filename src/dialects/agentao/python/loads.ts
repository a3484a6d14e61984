import { endOfString } from '../../../json/ends.ts';

/**
 * Replaces Python's NaN, Infinity and -Infinity by 1e999 and -1e999, so that JSON.parse accepts the text. A
 * text without them is returned as it is.
 */
export function fromPythonJson(text: string): string {
  if (!text.includes('NaN') && !text.includes('Infinity')) return text;
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    if (text.charAt(at) === '"') {
      at = endOfString(text, at);
      continue;
    }
    const word = 'NI-'.includes(text.charAt(at)) ? wordAt(text, at) : undefined;
    if (word === undefined) {
      at += 1;
      continue;
    }
    parts.push(text.slice(from, at), word.startsWith('-') ? `-${beyondDoubles}` : beyondDoubles);
    at += word.length;
    from = at;
  }
  return parts.join('') + text.slice(from);
}

const beyondDoubles = '1e999';

/** A literal that stands alone: what touches it would make it something else. */
function wordAt(text: string, at: number): string | undefined {
  const literal = /(?<![\w.+-])(?:NaN|-?Infinity)(?![\w.+-])/y;
  literal.lastIndex = at;
  return literal.exec(text)?.[0];
}

/** Whether the value holds a number that JSON cannot express. */
export function holdsNonFinite(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const each = open.pop();
    if (typeof each === 'number' && !Number.isFinite(each)) return true;
    if (typeof each === 'object' && each !== null) {
      for (const inner of Object.values(each)) open.push(inner);
    }
  }
  return false;
}

/** Trims white space as Python's `str.strip` does; a byte order mark stays. */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  if (code >= 0x1c && code <= 0x1f) return true;
  return code === 0x85 || (code !== 0xfeff && /\s/.test(String.fromCharCode(code)));
}

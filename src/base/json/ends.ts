/** The characters that JSON is made of, as UTF-16 codes; bytes read as latin1 text have the same. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
const BACKSLASH = 0x5c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

/** Whether JSON allows the character between its tokens. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** The position of the next character that is no white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** The position after the string that starts at `start`; the end of the text when nothing closes it. */
export function endOfString(text: string, start: number): number {
  const end = closeString(text, start + 1);
  return end === -1 ? text.length : end;
}

/** The position after the value that starts at `start`. */
export function endOfValue(text: string, start: number): number {
  const opener = text.charCodeAt(start);
  if (opener === QUOTE) return endOfString(text, start);
  if (opener !== OPEN_BRACE && opener !== OPEN_BRACKET) return endOfScalar(text, start);
  return endOfContainer(text, start) ?? text.length;
}

/** The position after the object or list that starts at `start`; undefined when nothing closes it. */
export function endOfContainer(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = closeString(text, at + 1);
      if (at === -1) break;
      continue;
    }
    at += 1;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}

/** A value whose text comes in pieces: what was open when the last piece ended. */
export interface OpenValue {
  isStarted: boolean;
  depth: number;
  isInString: boolean;
  isEscaped: boolean;
}

/** A value of which no character was seen yet. */
export function startValue(): OpenValue {
  return { isStarted: false, depth: 0, isInString: false, isEscaped: false };
}

/** The position after the value that goes on at `from`; undefined, and `open` brought up to date, when it may go on after the text. */
export function continueValue(text: string, from: number, open: OpenValue): number | undefined {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (open.isInString || code === QUOTE) {
      at = continueString(text, open.isInString ? at : at + 1, open);
      if (open.depth === 0 && !open.isInString) return at;
      continue;
    }
    if (open.depth === 0 && open.isStarted && endsScalar(code)) return at;
    open.isStarted = true;
    at += 1;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) open.depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open.depth -= 1;
      if (open.depth <= 0) return at;
    }
  }
  return undefined;
}

/** The position after the string that goes on at `from`, or the end of the text. */
function continueString(text: string, from: number, open: OpenValue): number {
  const start = open.isEscaped ? from + 1 : from;
  const end = closeString(text, start);
  open.isInString = end === -1;
  open.isEscaped = end === -1 && countBackslashes(text, start, text.length) % 2 === 1;
  return end === -1 ? text.length : end;
}

/** Whether a number or word is over. */
function endsScalar(code: number): boolean {
  return isSpace(code) || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE;
}

/** The position after the quote that closes a string which goes on at `from`; -1 when none does. */
function closeString(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  while (quote !== -1 && countBackslashes(text, from, quote) % 2 === 1) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? -1 : quote + 1;
}

function countBackslashes(text: string, from: number, end: number): number {
  let at = end;
  while (at > from && text.charCodeAt(at - 1) === BACKSLASH) at -= 1;
  return end - at;
}

/** The position after the number or word that starts at `start`. */
function endOfScalar(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || endsScalar(code)) break;
  }
  return at;
}

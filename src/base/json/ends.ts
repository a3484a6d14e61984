/** JSON's characters as UTF-16 codes; bytes read as latin1 have the same codes. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
const BACKSLASH = 0x5c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** The position after the string that starts at `start`; the end of the text if nothing closes it. */
export function endOfString(text: string, start: number): number {
  const end = closeString(text, start + 1);
  return end === -1 ? text.length : end;
}

export function endOfValue(text: string, start: number): number {
  const opener = text.charCodeAt(start);
  if (opener === QUOTE) return endOfString(text, start);
  if (opener !== OPEN_BRACE && opener !== OPEN_BRACKET) return endOfScalar(text, start);
  return endOfContainer(text, start) ?? text.length;
}

/** The position after the object or list that starts at `start`; undefined if nothing closes it. */
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

export interface OpenValue {
  isStarted: boolean;
  depth: number;
  isInString: boolean;
  isEscaped: boolean;
}

export function startValue(): OpenValue {
  return { isStarted: false, depth: 0, isInString: false, isEscaped: false };
}

/** The position after the value; undefined, and `open` is updated, if it may continue after the text. */
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

function continueString(text: string, from: number, open: OpenValue): number {
  const start = open.isEscaped ? from + 1 : from;
  const end = closeString(text, start);
  open.isInString = end === -1;
  open.isEscaped = end === -1 && countBackslashes(text, start, text.length) % 2 === 1;
  return end === -1 ? text.length : end;
}

function endsScalar(code: number): boolean {
  return isSpace(code) || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE;
}

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

function endOfScalar(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || endsScalar(code)) break;
  }
  return at;
}

/**
 * The first position at or after `from`, or -1. JavaScript's own search may take quadratic time without interruption,
 * so expensive searches use a linear algorithm.
 */
export function findText(text: string, wanted: string, from = 0): number {
  if (isCheap(text, wanted)) return text.indexOf(wanted, from);
  const [first = -1] = positionsOf(text, wanted, from);
  return first;
}

/** The last position at or before `from`, or -1. */
export function findLastText(text: string, wanted: string, from = text.length): number {
  if (isCheap(text, wanted)) return text.lastIndexOf(wanted, from);
  let last = -1;
  for (const at of positionsOf(text, wanted, 0)) {
    if (at > from) break;
    last = at;
  }
  return last;
}

export function splitText(text: string, separator: string): string[] {
  if (isCheap(text, separator)) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  for (const at of positionsOf(text, separator, 0)) {
    if (at < start) continue;
    parts.push(text.slice(start, at));
    start = at + separator.length;
  }
  return [...parts, text.slice(start)];
}

function isCheap(text: string, wanted: string): boolean {
  return wanted.length <= SHORT_TEXT || wanted.length * text.length <= STEPS;
}

const SHORT_TEXT = 16;
const STEPS = 10_000_000;

/** All positions, overlapping ones included (Knuth, Morris, Pratt). */
function* positionsOf(text: string, wanted: string, from: number): Generator<number> {
  const borders = prefixTableOf(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    while (matched > 0 && text.charCodeAt(at) !== wanted.charCodeAt(matched))
      matched = borders[matched - 1] ?? 0;
    if (text.charCodeAt(at) === wanted.charCodeAt(matched)) matched += 1;
    if (matched < wanted.length) continue;
    yield at - matched + 1;
    matched = borders[matched - 1] ?? 0;
  }
}

function prefixTableOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (matched > 0 && wanted.charCodeAt(at) !== wanted.charCodeAt(matched))
      matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(at) === wanted.charCodeAt(matched)) matched += 1;
    borders[at] = matched;
  }
  return borders;
}

/** Removes these characters from the end. A pattern such as `=+$` takes quadratic time. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

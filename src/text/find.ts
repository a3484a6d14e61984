/**
 * Where a text first stands in another at `from` or behind it, or -1. JavaScript's own search may compare a long text at every
 * place anew, and nothing can interrupt it; where that could take long, each character is looked at twice at most.
 */
export function findText(text: string, wanted: string, from = 0): number {
  if (isQuick(text, wanted)) return text.indexOf(wanted, from);
  const [first = -1] = placesOf(text, wanted, from);
  return first;
}

/** The last place at `from` or before it, or -1. */
export function findLastText(text: string, wanted: string, from = text.length): number {
  if (isQuick(text, wanted)) return text.lastIndexOf(wanted, from);
  let last = -1;
  for (const at of placesOf(text, wanted, 0)) {
    if (at > from) break;
    last = at;
  }
  return last;
}

/** What stands between the places of a separator, as `split` of a string has it. */
export function splitText(text: string, separator: string): string[] {
  if (isQuick(text, separator)) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  for (const at of placesOf(text, separator, 0)) {
    if (at < start) continue;
    parts.push(text.slice(start, at));
    start = at + separator.length;
  }
  return [...parts, text.slice(start)];
}

function isQuick(text: string, wanted: string): boolean {
  return wanted.length <= SHORT || wanted.length * text.length <= STEPS;
}

const SHORT = 16;
/** Some ten milliseconds. */
const STEPS = 10_000_000;

/** Where it stands, also where its places overlap: the search of Knuth, Morris and Pratt. */
function* placesOf(text: string, wanted: string, from: number): Generator<number> {
  const borders = bordersOf(wanted);
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

/** Of each beginning of a text: how long the longest shorter beginning is that it ends with. */
function bordersOf(wanted: string): Int32Array {
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

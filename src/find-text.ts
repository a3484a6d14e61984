/**
 * Where a text first stands in another at `from` or behind it, or -1. JavaScript's own search may compare a long text at every
 * place anew, and nothing can interrupt it; where that could take long, each character is looked at twice at most.
 */
export function findText(text: string, wanted: string, from = 0): number {
  if (wanted.length <= SHORT || wanted.length * text.length <= STEPS) return text.indexOf(wanted, from);
  return nextIn(text, { wanted, borders: bordersOf(wanted) }, from);
}

/** The last place at `from` or before it, or -1. */
export function findLastText(text: string, wanted: string, from = text.length): number {
  if (wanted.length * text.length <= STEPS) return text.lastIndexOf(wanted, from);
  const sought = { wanted, borders: bordersOf(wanted) };
  let last = -1;
  for (let at = nextIn(text, sought, 0); at !== -1 && at <= from; at = nextIn(text, sought, at + 1)) last = at;
  return last;
}

/** What stands between the places of a separator, as `split` of a string has it. */
export function splitText(text: string, separator: string): string[] {
  if (separator.length <= SHORT || separator.length * text.length <= STEPS) return text.split(separator);
  const sought = { wanted: separator, borders: bordersOf(separator) };
  const parts: string[] = [];
  let start = 0;
  for (let at = nextIn(text, sought, 0); at !== -1; at = nextIn(text, sought, start)) {
    parts.push(text.slice(start, at));
    start = at + separator.length;
  }
  return [...parts, text.slice(start)];
}

const SHORT = 100;
/** Some ten milliseconds. */
const STEPS = 10_000_000;

interface Sought {
  readonly wanted: string;
  readonly borders: Int32Array;
}

/** The search of Knuth, Morris and Pratt. */
function nextIn(text: string, { wanted, borders }: Sought, from: number): number {
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    while (matched > 0 && text.charCodeAt(at) !== wanted.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (text.charCodeAt(at) === wanted.charCodeAt(matched)) matched += 1;
    if (matched === wanted.length) return at - matched + 1;
  }
  return -1;
}

/** Of each beginning of a text: how long the longest shorter beginning is that it ends with. */
function bordersOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (matched > 0 && wanted.charCodeAt(at) !== wanted.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(at) === wanted.charCodeAt(matched)) matched += 1;
    borders[at] = matched;
  }
  return borders;
}

/**
 * A changed text over the places that had the old one: what did not change stays where it was. The pieces joined are the
 * changed text.
 */
export function spliceText(pieces: readonly string[], changed: string): string[] {
  const old = pieces.join('');
  if (old === changed) return [...pieces];
  let from = 0;
  let at = 0;
  return pieces.map((piece, index) => {
    at += piece.length;
    const to = index === pieces.length - 1 ? changed.length : Math.max(from, findBoundary(old, changed, at));
    const text = changed.slice(from, to);
    from = to;
    return text;
  });
}

/** Where a boundary of the old text lies in the changed one. */
function findBoundary(old: string, changed: string, at: number): number {
  const head = countSame(old, changed, (text, index) => text.charCodeAt(index));
  if (at <= head) return at;
  const tail = countSame(old, changed, (text, index) => text.charCodeAt(text.length - 1 - index));
  if (old.length - at <= tail && at >= head) return changed.length - (old.length - at);
  for (const width of contextWidths) {
    const [before, after] = [old.slice(Math.max(0, at - width), at), old.slice(at, at + width)];
    const found =
      findOnly(changed, before + after, before.length) ??
      findOnly(changed, after, 0) ??
      findOnly(changed, before, before.length);
    if (found !== undefined) return found;
  }
  return Math.max(head, changed.length - (tail < 4 ? 0 : tail));
}

/** Characters on each side of a boundary by which it is found again. */
const contextWidths = [32, 16, 8, 4];

/** The position behind `offset` characters of a text that stands in the whole once; undefined when it does not. */
function findOnly(whole: string, text: string, offset: number): number | undefined {
  const found = text.length < 4 ? -1 : whole.indexOf(text);
  return found === -1 || whole.includes(text, found + 1) ? undefined : found + offset;
}

function countSame(one: string, other: string, codeAt: (text: string, index: number) => number): number {
  const length = Math.min(one.length, other.length);
  let count = 0;
  while (count < length && codeAt(one, count) === codeAt(other, count)) count += 1;
  return count;
}

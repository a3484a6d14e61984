/**
 * Divides a changed text among the parts of which the old one was put together. Put together again they are always the
 * changed text; parts in which nothing was changed stay as they are wherever that can be told.
 */
export function splitChangedText(parts: readonly string[], changed: string): string[] {
  let head = 0;
  let from = 0;
  while (head < parts.length && changed.startsWith(parts[head] ?? '', from)) {
    from += parts[head]?.length ?? 0;
    head += 1;
  }
  let tail = parts.length;
  let to = changed.length;
  while (
    tail > head &&
    to - (parts[tail - 1]?.length ?? 0) >= from &&
    endsAt(changed, parts[tail - 1] ?? '', to)
  ) {
    tail -= 1;
    to -= parts[tail]?.length ?? 0;
  }
  const middle = splitMiddle(parts.slice(head, tail), changed.slice(from, to));
  const split = [...parts.slice(0, head), ...middle, ...parts.slice(tail)];
  if (tail > head || from === to) return split;
  // All parts are there, and something was added between two of them.
  const at = Math.max(0, head - 1);
  return split.map((part, index) => (index === at ? part + changed.slice(from, to) : part));
}

function endsAt(text: string, part: string, end: number): boolean {
  return text.startsWith(part, end - part.length);
}

function splitMiddle(parts: readonly string[], changed: string): string[] {
  const split: string[] = [];
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    const end = next === undefined ? changed.length : findBoundary(part, next, changed, from);
    split.push(changed.slice(from, end));
    from = end;
  }
  return split;
}

/** Where a part ends in the changed text, by what stood on both sides of its end, or on one. */
function findBoundary(part: string, next: string, changed: string, from: number): number {
  if (part !== '' && changed.startsWith(part, from)) return from + part.length;
  for (const width of [64, 24, 12, 6, 3]) {
    const left = part.slice(-width);
    const both = changed.indexOf(left + next.slice(0, width), from);
    if (both !== -1) return both + left.length;
  }
  for (const width of [16, 8, 4]) {
    const right = next.slice(0, width);
    const before = right.length < width && width > 4 ? -1 : changed.indexOf(right, from);
    if (right !== '' && before !== -1) return before;
    const left = part.slice(-width);
    const behind = left.length < width && width > 4 ? -1 : changed.indexOf(left, from);
    if (left !== '' && behind !== -1) return behind + left.length;
  }
  return changed.length;
}

const separator = '\n\n';

/** A system prompt: texts, joined by an empty line. */
export function joinPrompt(texts: readonly string[]): string {
  return texts.join(separator);
}

/** The new text of each: all separators are where they were, or one text alone has changed. Undefined: it cannot be told which. */
export function splitPrompt(texts: readonly string[], changed: string): readonly string[] | undefined {
  if (texts.length === 1) return [changed];
  const pieces = changed.split(separator);
  const counts = texts.map((text) => text.split(separator).length);
  if (counts.reduce((sum, count) => sum + count, 0) === pieces.length) {
    let at = 0;
    return counts.map((count) => {
      at += count;
      return joinPrompt(pieces.slice(at - count, at));
    });
  }
  const alone = texts.flatMap((_, index) => {
    const before = texts
      .slice(0, index)
      .map((text) => text + separator)
      .join('');
    const after = texts
      .slice(index + 1)
      .map((text) => separator + text)
      .join('');
    const fits =
      changed.startsWith(before) && changed.endsWith(after) && changed.length >= before.length + after.length;
    return fits ? [texts.with(index, changed.slice(before.length, changed.length - after.length))] : [];
  });
  return alone.length === 1 ? alone[0] : undefined;
}

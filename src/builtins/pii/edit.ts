/** Replaces the range from `start` up to, not including, `end` with `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The edits must be in order and must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const edit of edits) {
    pieces.push(text.slice(from, edit.start), edit.text);
    from = edit.end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

/**
 * Applies edits of the joined text to its parts. The new text goes into the part where the edit begins. The old text is
 * removed from all parts.
 */
export function applyToParts(parts: readonly string[], separator: string, edits: readonly Edit[]): string[] {
  let offset = 0;
  let next = 0;
  return parts.map((part) => {
    const from = offset;
    const to = from + part.length;
    offset = to + separator.length;
    while (endOf(edits[next]) <= from) next += 1;
    const within: Edit[] = [];
    for (let at = next; startOf(edits[at]) < to; at++) within.push(...cut(edits[at], from, to));
    return applyEdits(part, within);
  });
}

function startOf(edit: Edit | undefined): number {
  return edit?.start ?? Number.POSITIVE_INFINITY;
}

function endOf(edit: Edit | undefined): number {
  return edit?.end ?? Number.POSITIVE_INFINITY;
}

function cut(edit: Edit | undefined, from: number, to: number): Edit[] {
  if (edit === undefined || edit.end <= from) return [];
  const { start, end, text } = edit;
  const own = { start: Math.max(start, from) - from, end: Math.min(end, to) - from };
  return [{ ...own, text: start >= from ? text : '' }];
}

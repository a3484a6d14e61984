/** A change of a text: what stands from `start` up to, not including, `end` becomes `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text with all edits made; they must be in order and must not overlap. */
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
 * Makes edits of the joined text in its parts. What an edit puts in stands in the part where it begins; what it
 * takes out is taken from every part that it reaches.
 */
export function applyToParts(parts: readonly string[], joint: string, edits: readonly Edit[]): string[] {
  let offset = 0;
  let next = 0;
  return parts.map((part) => {
    const from = offset;
    const to = from + part.length;
    offset = to + joint.length;
    // Edits are in order, as the parts are: what ends before this part has no place in the ones behind it either.
    while (endOf(edits[next]) <= from) next += 1;
    const within: Edit[] = [];
    for (let at = next; startOf(edits[at]) < to; at++) within.push(...cut(edits[at], from, to));
    return applyEdits(part, within);
  });
}

/** Behind everything for what is not there. */
function startOf(edit: Edit | undefined): number {
  return edit?.start ?? Number.POSITIVE_INFINITY;
}

function endOf(edit: Edit | undefined): number {
  return edit?.end ?? Number.POSITIVE_INFINITY;
}

/** What of the edit lies between the two places, counted from the first. */
function cut(edit: Edit | undefined, from: number, to: number): Edit[] {
  if (edit === undefined || edit.end <= from) return [];
  const { start, end, text } = edit;
  const own = { start: Math.max(start, from) - from, end: Math.min(end, to) - from };
  return [{ ...own, text: start >= from ? text : '' }];
}

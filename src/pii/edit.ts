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
  return parts.map((part) => {
    const from = offset;
    offset += part.length + joint.length;
    return applyEdits(part, editsWithin(edits, from, from + part.length));
  });
}

function editsWithin(edits: readonly Edit[], from: number, to: number): Edit[] {
  return edits
    .filter(({ start, end }) => start < to && end > from)
    .map(({ start, end, text }) => ({
      start: Math.max(start, from) - from,
      end: Math.min(end, to) - from,
      text: start >= from ? text : '',
    }));
}

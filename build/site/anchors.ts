/** Returns the anchor that GitHub generates for a heading. Repeated headings get the suffixes `-1`, `-2` and so on. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Generates the anchors of one page's headings, in order. */
export class Anchors {
  readonly #seen = new Map<string, number>();

  next(heading: string): string {
    const anchor = anchorOf(heading);
    const count = this.#seen.get(anchor) ?? 0;
    this.#seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  }
}

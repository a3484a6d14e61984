/** The anchor of a heading, as GitHub makes it; of a second heading of the same words it is followed by `-1`. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Anchors of the headings of one page, in their order. */
export class Anchors {
  readonly #seen = new Map<string, number>();

  next(heading: string): string {
    const anchor = anchorOf(heading);
    const count = this.#seen.get(anchor) ?? 0;
    this.#seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  }
}

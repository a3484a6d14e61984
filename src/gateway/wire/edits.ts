import type { Place } from './place.ts';

/** Changes of a JSON text at exact places; all that is not changed stays byte for byte. */
export class Edits {
  readonly #source: string;
  readonly #edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  /** Puts JSON text where a value stands; a later change of the same place replaces the earlier one. */
  replace({ start, end }: Pick<Place, 'start' | 'end'>, text: string): void {
    this.#edits.push({ start, end, text });
  }

  /** The changed text; the same string when nothing was changed. Throws Error when changes overlap. */
  apply(): string {
    if (this.#edits.length === 0) return this.#source;
    const byStart = new Map(this.#edits.map((edit) => [edit.start, edit]));
    const sorted = [...byStart.values()].toSorted((one, other) => one.start - other.start);
    const parts: string[] = [];
    let at = 0;
    for (const { start, end, text } of sorted) {
      if (start < at) throw new Error('two changes of the same place');
      parts.push(this.#source.slice(at, start), text);
      at = end;
    }
    return parts.join('') + this.#source.slice(at);
  }
}

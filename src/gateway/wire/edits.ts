import { COMMA, skipSpace } from '../../base/json/ends.ts';
import { scanMembers } from '../../base/json/scan.ts';
import { unwritable } from './faults.ts';
import type { Place } from './place.ts';

/** Positions in a text; `end` is behind the last one. */
type Span = Pick<Place, 'start' | 'end'>;

/** Changes of a JSON text at exact places; all that is not changed stays byte for byte. */
export class Edits {
  readonly #source: string;
  /** By where they start; what is put in between stands before what replaces the value behind it. */
  readonly #changes = new Map<string, Change>();
  readonly #containers = new Map<number, ContainerChange>();

  constructor(source: string) {
    this.#source = source;
  }

  /** Puts JSON text where a value stands; a later change of the same place replaces the earlier one. */
  replace(place: Span, text: string): void {
    this.#change({ start: place.start, end: place.end, text, isRemoval: false });
  }

  /** The same; what changes inside of the value is forgotten. */
  replaceWhole(place: Span, text: string): void {
    this.#change({ start: place.start, end: place.end, text, isRemoval: true });
  }

  /** Puts a text where a string stands, unless it is that already. */
  replaceText(place: Place, text: string): void {
    if (place.text !== text) this.replace(place, JSON.stringify(text));
  }

  /** Takes members out of an object, or elements out of a list, with their commas; what changes inside of them is forgotten. */
  remove(container: Place, entry: string | number): void {
    this.#containerChange(container).removed.add(entry);
  }

  /** Adds JSON text, of a member with its key, before the entry of that index; as the last one without an index. */
  insert(container: Place, text: string, before?: number): void {
    this.#containerChange(container).inserted.push({ text, before: before ?? Number.POSITIVE_INFINITY });
  }

  /** Adds a member as the last one of an object. */
  addMember(object: Place, key: string, json: string): void {
    this.insert(object, `${JSON.stringify(key)}:${json}`);
  }

  /** The changed text; the same string when nothing was changed. Throws REPLY_MALFORMED when changes overlap. */
  apply(): string {
    for (const change of this.#containers.values()) this.#relist(change);
    this.#containers.clear();
    if (this.#changes.size === 0) return this.#source;
    const sorted = [...this.#changes.values()].toSorted(
      (one, other) => one.start - other.start || one.end - other.end,
    );
    const parts: string[] = [];
    let at = 0;
    let removedTo = 0;
    for (const { start, end, text, isRemoval } of sorted) {
      if (end <= removedTo && start < removedTo) continue;
      if (start < at) throw unwritable('a hook has changed the same place of the body in two ways');
      parts.push(this.#source.slice(at, start), text);
      at = end;
      if (isRemoval) removedTo = end;
    }
    return parts.join('') + this.#source.slice(at);
  }

  #change(change: Change): void {
    this.#changes.set(`${change.start}${change.end > change.start ? '' : 'i'}`, change);
  }

  #containerChange(container: Place): ContainerChange {
    const known = this.#containers.get(container.start);
    if (known !== undefined) return known;
    const change = { container, removed: new Set<string | number>(), inserted: [] };
    this.#containers.set(container.start, change);
    return change;
  }

  /** Between two entries that stay, one change takes out what goes and puts in what is new. */
  #relist({ container, removed, inserted }: ContainerChange): void {
    const spans = spansOf(container);
    const added = [...inserted].toSorted((one, other) => one.before - other.before);
    let kept: Span | undefined;
    let gone: { readonly first: Span; readonly last: Span } | undefined;
    const close = (next: Span | undefined, before: number) => {
      const texts: string[] = [];
      while (added[0] !== undefined && added[0].before <= before) texts.push(added.shift()?.text ?? '');
      if (texts.length === 0 && gone === undefined) return;
      this.#change({ ...gap({ container, kept, gone, next }, texts), isRemoval: gone !== undefined });
    };
    for (const [index, span] of spans.entries()) {
      if (removed.has(span.entry)) gone = { first: gone?.first ?? span, last: span };
      else {
        close(span, index);
        kept = span;
        gone = undefined;
      }
    }
    close(undefined, Number.POSITIVE_INFINITY);
  }
}

interface Change extends Span {
  readonly text: string;
  /** Whether changes inside of it are to be forgotten. */
  readonly isRemoval: boolean;
}

interface ContainerChange {
  readonly container: Place;
  /** Keys or indexes. */
  readonly removed: Set<string | number>;
  readonly inserted: { readonly text: string; readonly before: number }[];
}

interface Gap {
  readonly container: Place;
  /** The entries beside it that stay. */
  readonly kept: Span | undefined;
  readonly next: Span | undefined;
  readonly gone: { readonly first: Span; readonly last: Span } | undefined;
}

function gap({ container, kept, gone, next }: Gap, texts: readonly string[]): Span & { text: string } {
  if (kept !== undefined) {
    return {
      start: kept.end,
      end: gone?.last.end ?? kept.end,
      text: texts.map((text) => `,${text}`).join(''),
    };
  }
  const start = gone?.first.start ?? next?.start ?? container.start + 1;
  if (next === undefined) return { start, end: gone?.last.end ?? start, text: texts.join(',') };
  return { start, end: next.start, text: texts.map((text) => `${text},`).join('') };
}

/** Where the entries of a list, or the members of an object with their keys, stand. */
function spansOf(container: Place): readonly (Span & { readonly entry: string | number })[] {
  if (container.kind === 'array')
    return container.items.map(({ start, end }, entry) => ({ start, end, entry }));
  const { source } = container;
  let at = container.start + 1;
  return scanMembers(source, container.start).map(({ key, end }) => {
    at = skipSpace(source, at);
    if (source.charCodeAt(at) === COMMA) at = skipSpace(source, at + 1);
    const start = at;
    at = end;
    return { start, end, entry: key };
  });
}

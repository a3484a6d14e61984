import { MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { COMMA, endOfValue, OPEN_BRACE, OPEN_BRACKET, skipSpace } from '../../base/json/ends.ts';
import { Json } from '../../base/json/json.ts';
import { scanElements, scanMembers } from '../../base/json/scan.ts';
import { decodeString, JsonTokens } from '../../base/json/tokens.ts';
import { unwritable } from './refusal.ts';

export type PlaceKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** A value inside a JSON text, known by its position, so that it can be read and changed where it stands. */
export class Place {
  /** The whole text, which has passed `JSON.parse`. */
  readonly source: string;
  /** Positions in UTF-16 units; `end` is behind the last one. */
  readonly start: number;
  readonly end: number;
  #members: ReadonlyMap<string, Place> | undefined;
  #items: readonly Place[] | undefined;
  #text: string | undefined;

  constructor(source: string, start: number, end: number) {
    this.source = source;
    this.start = start;
    this.end = end;
  }

  get kind(): PlaceKind {
    return kinds[this.source.charAt(this.start)] ?? 'number';
  }

  /** The members of an object, the last of each key; empty for every other value. */
  get members(): ReadonlyMap<string, Place> {
    this.#members ??= new Map(
      this.kind === 'object'
        ? scanMembers(this.source, this.start).map(({ key, start, end }) => [
            key,
            new Place(this.source, start, end),
          ])
        : [],
    );
    return this.#members;
  }

  /** The elements of an array; empty for every other value. */
  get items(): readonly Place[] {
    this.#items ??=
      this.kind === 'array'
        ? scanElements(this.source, this.start).map(({ start, end }) => new Place(this.source, start, end))
        : [];
    return this.#items;
  }

  /** A member of an object; undefined when it has none of that key. */
  at(key: string): Place | undefined {
    return this.members.get(key);
  }

  /** The text of a string; undefined for every other value. */
  get text(): string | undefined {
    if (this.kind !== 'string') return undefined;
    this.#text ??= decodeString(this.source, this.start, this.end);
    return this.#text;
  }

  /** The value with its exact text. */
  get json(): Json {
    return new Json(this.source.slice(this.start, this.end));
  }

  /** The parsed value; long integers are approximate. */
  get value(): unknown {
    return JSON.parse(this.source.slice(this.start, this.end));
  }
}

const kinds: Readonly<Record<string, PlaceKind>> = {
  '{': 'object',
  '[': 'array',
  '"': 'string',
  t: 'boolean',
  f: 'boolean',
  n: 'null',
};

/** The whole value of a JSON text. Throws SyntaxError when it is not JSON. */
export function openPlace(source: string): Place {
  JSON.parse(source);
  const start = skipSpace(source, 0);
  return new Place(source, start, endOfValue(source, start));
}

/** A value in a body: what it is taken out of, and its path in `other`. */
export interface Spot {
  readonly place: Place;
  readonly owner: Place;
  /** Its key or index in `owner`. */
  readonly entry: string | number;
  readonly path: string;
  /** Its path for errors, where that is another. */
  readonly at?: string | undefined;
}

/** A whole body as a spot. */
export function bodySpot(place: Place, path = ''): Spot {
  return { place, owner: place, entry: '', path };
}

/** A member as a spot; undefined when it is absent. */
export function memberSpot(spot: Spot, key: string): Spot | undefined {
  const member = spot.place.at(key);
  return member && toMember(spot, key, member);
}

export function toMember({ place, path, at }: Spot, key: string, member: Place): Spot {
  const whole = at === undefined ? undefined : joinPath(at, key);
  return { place: member, owner: place, entry: key, path: joinPath(path, key), at: whole };
}

/** The elements of a list as spots. */
export function itemSpots({ place, path, at }: Spot): Spot[] {
  return place.items.map((item, entry) => ({
    place: item,
    owner: place,
    entry,
    path: `${path}[${entry}]`,
    at: at === undefined ? undefined : `${at}[${entry}]`,
  }));
}

export function joinPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** The number of that member of an object. */
export function numberAt(place: Place | undefined, key: string): number | undefined {
  const value = place?.at(key);
  return value?.kind === 'number' ? Number(value.value) : undefined;
}

/** What makes a text one that two readers could read differently, or that is no JSON; undefined when nothing does. */
export type JsonProblem = 'is not UTF-8' | 'is not JSON' | 'is nested too deeply' | 'has a key twice';

/** The text of bytes that are UTF-8; undefined when they are not. A byte order mark stays, and is no JSON. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The whole value of a JSON text. Throws what `fail` makes of a problem. */
export function openStrictly(
  text: string,
  fail: (problem: JsonProblem) => Error,
  maxDepth = MAX_JSON_DEPTH,
): Place {
  const place = tryOpen(text);
  if (place === undefined) throw fail('is not JSON');
  const problem = findProblem(text, maxDepth);
  if (problem !== undefined) throw fail(problem);
  return place;
}

/** The whole value of a JSON text; undefined when it is not JSON. */
export function tryOpen(text: string): Place | undefined {
  try {
    return openPlace(text);
  } catch {
    return undefined;
  }
}

function findProblem(text: string, maxDepth: number): JsonProblem | undefined {
  const tokens = new JsonTokens(text);
  /** The keys of the objects that are open, by depth. */
  const keys: Set<string>[] = [];
  while (tokens.next()) {
    const { code, depth } = tokens;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth > maxDepth) return 'is nested too deeply';
      if (code === OPEN_BRACE) keys[depth] = new Set();
    } else if (tokens.isKey) {
      const known = keys[depth] ?? new Set();
      const before = known.size;
      if (known.add(tokens.name).size === before) return 'has a key twice';
    }
  }
  return undefined;
}

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

/** Whether the text is a name or id such as APIs give, which hooks need not be shown. */
export function isPlainId(text: string): boolean {
  return plainId.test(text);
}

const plainId = /^[A-Za-z0-9_.:|/+=-]{1,256}$/;

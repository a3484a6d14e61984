import { MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { COMMA, endOfValue, OPEN_BRACE, OPEN_BRACKET, skipSpace } from '../../base/json/ends.ts';
import { Json } from '../../base/json/json.ts';
import { parseJson } from '../../base/json/parse-json.ts';
import { scanElements, scanMembers } from '../../base/json/scan.ts';
import { decodeString, JsonTokens } from '../../base/json/tokens.ts';
import { unwritable } from './refusal.ts';

export type PlaceKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export class Place {
  /** The whole text, which is valid JSON. */
  readonly source: string;
  /** UTF-16 offsets; `end` is exclusive. */
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

  /** The members of an object; empty for other values. The last of duplicate keys counts. */
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

  get items(): readonly Place[] {
    this.#items ??=
      this.kind === 'array'
        ? scanElements(this.source, this.start).map(({ start, end }) => new Place(this.source, start, end))
        : [];
    return this.#items;
  }

  at(key: string): Place | undefined {
    return this.members.get(key);
  }

  get text(): string | undefined {
    if (this.kind !== 'string') return undefined;
    this.#text ??= decodeString(this.source, this.start, this.end);
    return this.#text;
  }

  /** The value with its exact text. */
  get json(): Json {
    return new Json(this.source.slice(this.start, this.end));
  }

  /** The parsed value. Long integers lose precision. */
  get value(): unknown {
    return parseJson(this.source.slice(this.start, this.end));
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

/** Throws SyntaxError if `source` is not JSON. */
export function openPlace(source: string): Place {
  JSON.parse(source);
  const start = skipSpace(source, 0);
  return new Place(source, start, endOfValue(source, start));
}

export interface Spot {
  readonly place: Place;
  readonly owner: Place;
  readonly entry: string | number;
  readonly path: string;
  /** The path for error messages, if different. */
  readonly at?: string | undefined;
}

export function bodySpot(place: Place, path = ''): Spot {
  return { place, owner: place, entry: '', path };
}

export function memberSpot(spot: Spot, key: string): Spot | undefined {
  const member = spot.place.at(key);
  return member && toMember(spot, key, member);
}

export function toMember({ place, path, at }: Spot, key: string, member: Place): Spot {
  const whole = at === undefined ? undefined : joinPath(at, key);
  return { place: member, owner: place, entry: key, path: joinPath(path, key), at: whole };
}

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

export function numberAt(place: Place | undefined, key: string): number | undefined {
  const value = place?.at(key);
  return value?.kind === 'number' ? Number(value.value) : undefined;
}

export type JsonProblem = 'is not UTF-8' | 'is not JSON' | 'is nested too deeply' | 'has a duplicate key';

/** Returns undefined if the bytes are not UTF-8. Keeps a byte order mark, which is not valid JSON. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

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

/** Returns undefined if the text is not JSON. */
export function tryOpen(text: string): Place | undefined {
  try {
    return openPlace(text);
  } catch {
    return undefined;
  }
}

function findProblem(text: string, maxDepth: number): JsonProblem | undefined {
  const tokens = new JsonTokens(text);
  const keys: Set<string>[] = [];
  while (tokens.next()) {
    const { code, depth } = tokens;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth > maxDepth) return 'is nested too deeply';
      if (code === OPEN_BRACE) keys[depth] = new Set();
    } else if (tokens.isKey) {
      const known = keys[depth] ?? new Set();
      const before = known.size;
      if (known.add(tokens.name).size === before) return 'has a duplicate key';
    }
  }
  return undefined;
}

type Span = Pick<Place, 'start' | 'end'>;

/** Edits a JSON text in place. Everything else stays the same, byte for byte. */
export class Edits {
  readonly #source: string;
  /** Keyed by start, with a separate key for insertions, which sort before replacements at the same position. */
  readonly #changes = new Map<string, Change>();
  readonly #containers = new Map<number, ContainerChange>();

  constructor(source: string) {
    this.#source = source;
  }

  replace(place: Span, text: string): void {
    this.#change({ start: place.start, end: place.end, text, isRemoval: false });
  }

  /** Like `replace`, but discards changes inside the value. */
  replaceWhole(place: Span, text: string): void {
    this.#change({ start: place.start, end: place.end, text, isRemoval: true });
  }

  replaceText(place: Place, text: string): void {
    if (place.text !== text) this.replace(place, JSON.stringify(text));
  }

  /** Removes an entry with its comma and discards changes inside it. */
  remove(container: Place, entry: string | number): void {
    this.#containerChange(container).removed.add(entry);
  }

  insert(container: Place, text: string, before?: number): void {
    this.#containerChange(container).inserted.push({ text, before: before ?? Number.POSITIVE_INFINITY });
  }

  addMember(object: Place, key: string, json: string): void {
    this.insert(object, `${JSON.stringify(key)}:${json}`);
  }

  /** Returns the same string if nothing changed. Throws REPLY_MALFORMED if changes overlap. */
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
  readonly isRemoval: boolean;
}

interface ContainerChange {
  readonly container: Place;
  readonly removed: Set<string | number>;
  readonly inserted: { readonly text: string; readonly before: number }[];
}

interface Gap {
  readonly container: Place;
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

/** Whether a text looks like an API's name or ID, which hooks need not see. */
export function isPlainId(text: string): boolean {
  return plainId.test(text);
}

const plainId = /^[A-Za-z0-9_.:|/+=-]{1,256}$/;

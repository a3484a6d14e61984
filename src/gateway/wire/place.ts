import { endOfValue, skipSpace } from '../../base/json/ends.ts';
import { Json } from '../../base/json/json.ts';
import { scanElements, scanMembers } from '../../base/json/scan.ts';
import { decodeString } from '../../base/json/tokens.ts';

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

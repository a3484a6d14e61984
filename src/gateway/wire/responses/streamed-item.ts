import { isSameToTheDigit } from '../../../json/equal.ts';
import { isObject, parseLossless, stringifyJson } from '../../../json/json.ts';
import { invalidAnswer } from '../faults.ts';
import type { Place } from '../place.ts';
import { isShaped } from '../walk.ts';
import { changeable } from './shapes.ts';

/** Where in an item a value stands. */
export type ItemPath = readonly (string | number)[];

/** What an event told of a place of an item. */
export interface Telling {
  readonly path: ItemPath;
  readonly place: Place;
  /** Whether it told the whole of it, so that a text may not go on. */
  readonly isWhole: boolean;
  /** The type of the event, to name it by. */
  readonly type: string;
}

/** A text as it was told so far. */
interface StreamedText {
  readonly path: ItemPath;
  readonly pieces: string[];
}

/** An item of an answer while it is streamed. */
export class StreamedItem {
  readonly added: Place | undefined;
  readonly tellings: Telling[] = [];
  readonly #texts = new Map<string, StreamedText>();

  constructor(added: Place | undefined) {
    this.added = added;
  }

  get id(): string {
    return (this.added ?? this.done)?.at('id')?.text ?? '';
  }

  /** The item as its last event told it. */
  get done(): Place | undefined {
    return this.tellings.findLast(({ path, isWhole }) => path.length === 0 && isWhole)?.place;
  }

  tell(telling: Telling): void {
    this.tellings.push(telling);
  }

  addText(path: ItemPath, text: string): void {
    this.#textOf(path).pieces.push(text);
  }

  /** Whether nothing was told of a text before. Throws RefusedCall (502) when the whole text is not what was told. */
  endText(path: ItemPath, text: string): boolean {
    const told = this.textAt(path);
    if (told === text) return false;
    if (told !== '') throw contradiction(path);
    this.addText(path, text);
    return true;
  }

  /** What was told of a text. */
  textAt(path: ItemPath): string {
    return this.#textOf(path).pieces.join('');
  }

  /** Throws RefusedCall (502) when a text of the whole item is not what was told of it. */
  check(whole: Place): void {
    for (const { path } of this.#texts.values()) {
      if ((placeAt(whole, path)?.text ?? '') !== this.textAt(path)) throw contradiction(path);
    }
  }

  /** The JSON of the item as far as it was told by its parts and texts. */
  snapshot(): string {
    const item = parseLossless(this.added?.json.text ?? '{}');
    const parts = this.tellings.filter(({ path }) => path.length > 0);
    for (const { path, place } of parts) setAt(item, path, parseLossless(place.json.text));
    for (const { path } of this.#texts.values()) setAt(item, path, this.textAt(path));
    return stringifyJson(item);
  }

  #textOf(path: ItemPath): StreamedText {
    const key = path.join('/');
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const begun = this.tellings.findLast((told) => !told.isWhole && isAbove(told.path, path));
    const place =
      begun === undefined ? placeAt(this.added, path) : placeAt(begun.place, path.slice(begun.path.length));
    const text = { path, pieces: place?.text === undefined ? [] : [place.text] };
    this.#texts.set(key, text);
    return text;
  }
}

function contradiction(path: ItemPath): Error {
  return invalidAnswer(
    `its stream tells \`${path.map((key) => (typeof key === 'number' ? 'n' : key)).join('.')}\` in two ways`,
  );
}

function isAbove(path: ItemPath, below: ItemPath): boolean {
  return path.length <= below.length && path.every((key, index) => key === below[index]);
}

/** The value at a path; undefined where there is none. */
export function placeAt(place: Place | undefined, path: ItemPath): Place | undefined {
  return path.reduce<Place | undefined>(
    (at, key) => (typeof key === 'number' ? at?.items[key] : at?.at(key)),
    place,
  );
}

function setAt(target: unknown, path: ItemPath, value: unknown): void {
  let at = target;
  for (const [index, key] of path.entries()) {
    if (!isObject(at) && !Array.isArray(at)) return;
    if (index === path.length - 1) Reflect.set(at, key, value);
    else {
      const below: unknown = Reflect.get(at, key);
      if (!isObject(below) && !Array.isArray(below))
        Reflect.set(at, key, typeof path[index + 1] === 'number' ? [] : {});
      at = Reflect.get(at, key);
    }
  }
}

/**
 * How a value that was told earlier is to be in a later one: a beginning of it, or itself; `told` asks only whether it
 * is there.
 */
type Relation = 'begin' | 'whole' | 'told';

/**
 * What was told earlier and is not in the later value, by its place under the earlier one. Throws RefusedCall (502) for
 * a text that was told as a whole and is another one later.
 */
export function untold(early: Place, late: Place | undefined, relation: Relation): [string, Place][] {
  const found: [string, Place][] = [];
  compare({ early, late, key: '', path: '', relation }, found);
  return found;
}

interface Comparison {
  readonly early: Place;
  readonly late: Place | undefined;
  readonly key: string;
  readonly path: string;
  readonly relation: Relation;
}

function compare({ early, late, key, path, relation }: Comparison, found: [string, Place][]): void {
  if (late === undefined) found.push([path, early]);
  else if (early.json.text === late.json.text || isChangeable(key, early)) return;
  else if (early.kind === 'object' && late.kind === 'object') {
    for (const [name, member] of early.members)
      compare({ early: member, late: late.at(name), key: name, path: `${path}.${name}`, relation }, found);
  } else if (early.kind === 'array' && late.kind === 'array') {
    for (const [index, item] of early.items.entries())
      compare({ early: item, late: late.items[index], key, path: `${path}[${index}]`, relation }, found);
  } else if (early.text !== undefined && late.text !== undefined) {
    if (relation === 'begin' ? late.text.startsWith(early.text) : early.text === late.text) return;
    // APIs seal what they send anew each time.
    if (relation === 'whole' && key !== 'encrypted_content') throw contradiction([key]);
    found.push([path, early]);
  } else if (!isSameToTheDigit(early.json, late.json)) found.push([path, early]);
}

/** Whether a value may differ from the later one under the same key: it holds no text. */
function isChangeable(key: string, place: Place): boolean {
  if (place.kind === 'number' || place.kind === 'boolean' || place.kind === 'null') return true;
  return isShaped(place, key, changeable);
}

/** Which text of which item a channel is. */
interface ChannelPlace {
  readonly index: number;
  readonly path: ItemPath;
  readonly itemId: string;
}

/** The key of a channel, from which a writer can open its item. */
export function formatChannel({ index, path, itemId }: ChannelPlace): string {
  return [index, ...path, itemId].join('/');
}

/** Throws Error for what is no such key. */
export function parseChannel(key: string): ChannelPlace {
  const [index = '', list = '', at = '', member = '', ...id] = key.split('/');
  if (list === '' || member === '') throw new Error('not a channel of a response');
  return { index: Number(index), path: [list, Number(at), member], itemId: id.join('/') };
}

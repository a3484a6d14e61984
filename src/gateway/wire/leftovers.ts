import { isUtf8 } from 'node:buffer';
import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import { isSealed } from '../../base/text/sealed.ts';
import type { Edits } from './edits.ts';
import { unwritable } from './faults.ts';
import type { Place } from './place.ts';

/**
 * What a projection tells nowhere else, as the one flat object `other`: each member is named by its path, such as
 * `content[1].cache_control`, and has its exact text.
 */
export class Leftovers {
  /** Made with the first, since most messages have none. */
  #entries: Map<string, Leftover> | undefined;
  #json: Json | undefined;

  get isEmpty(): boolean {
    return this.#entries === undefined;
  }

  get paths(): IterableIterator<string> {
    return (this.#entries ?? new Map<string, Leftover>()).keys();
  }

  /** Each value by its path. */
  get members(): ReadonlyMap<string, Json> {
    return new Map([...(this.#entries ?? [])].map(([path, { place }]) => [path, place.json]));
  }

  /** The members of an object but those in `told`; `path` is that of the object, empty for the outermost. */
  addMembers(object: Place, told: Pick<ReadonlySet<string>, 'has'>, path = ''): void {
    for (const [key, place] of object.members) {
      if (!told.has(key))
        this.add(path === '' ? key : `${path}.${key}`, { place, owner: object, entry: key });
    }
  }

  add(path: string, leftover: Leftover): void {
    // A key of a client's own may look like a path; hooks must see both.
    this.#entries ??= new Map();
    let name = path;
    while (this.#entries.has(name)) name += "'";
    this.#entries.set(name, leftover);
    this.#json = undefined;
  }

  /** All of another object's, each path behind that one. */
  addAll(others: Leftovers, path: string): void {
    for (const [inner, leftover] of others.#entries ?? [])
      this.add(path === '' ? inner : `${path}.${inner}`, leftover);
  }

  /** The same, before its own. */
  addFirst(others: Leftovers, path: string): void {
    const own = this.#entries;
    this.#entries = undefined;
    this.addAll(others, path);
    for (const [name, leftover] of own ?? []) this.add(name, leftover);
  }

  /** The object; undefined when nothing is left over. */
  get json(): Json | undefined {
    if (this.isEmpty) return undefined;
    this.#json ??= new Json(
      `{${[...(this.#entries ?? [])].map(([path, { place }]) => `${JSON.stringify(path)}:${place.json.text}`).join(',')}}`,
    );
    return this.#json;
  }

  /** Which members a hook's `other` has as they were told. */
  unchanged(changed: unknown): (path: string) => boolean {
    const json = toJson(changed);
    const members = json !== undefined && isObject(json.value) ? exactMembers(json) : new Map<string, Json>();
    return (path) => {
      const [entry, member] = [this.#entries?.get(path), members.get(path)];
      return entry !== undefined && member !== undefined && isSameToTheDigit(member, entry.place.json);
    };
  }

  /**
   * Takes out what may repeat a text in another form, whether a hook repeats it or not: copies that the wire declares, and in an
   * answer whatever has a form in which filters do not read.
   */
  dropCopies(edits: Edits, isAnswer: boolean): void {
    for (const leftover of this.#entries?.values() ?? [])
      if (leftover.emptied !== undefined || (isAnswer && isCopy(leftover.place))) takeOut(leftover, edits);
  }

  /**
   * Writes what a hook made of the object: changed members at their places; absent ones are taken out. `insertInto`
   * takes members with other names. Throws REPLY_MALFORMED.
   */
  write(changed: unknown, edits: Edits, insertInto?: Place): void {
    const json = toJson(changed);
    if (json === undefined ? this.isEmpty : json.text === this.json?.text) return;
    if (json !== undefined && !isObject(json.value)) throw unwritable('a replaced `other` is not an object');
    const members = json === undefined ? new Map<string, Json>() : exactMembers(json);
    for (const [path, leftover] of this.#entries ?? []) {
      const { place } = leftover;
      const member = members.get(path);
      if (member === undefined) takeOut(leftover, edits);
      else if (!isSameToTheDigit(member, place.json)) edits.replace(place, member.text);
    }
    for (const [key, member] of members) {
      if (this.#entries?.has(key) === true) continue;
      if (insertInto === undefined || insertInto.at(key) !== undefined)
        throw unwritable('a replaced `other` has a member that cannot be put into the body');
      edits.addMember(insertInto, key, member.text);
    }
  }
}

function takeOut({ place, owner, entry, emptied }: Leftover, edits: Edits): void {
  if (emptied === undefined || emptied === 'absent') edits.remove(owner, entry);
  else edits.replaceWhole(place, emptied);
}

/**
 * Whether a value may be a copy of a text in a form that filters do not read: it has a list of numbers, such as bytes or tokens, or a
 * string that is encrypted or that is the base64 or hexadecimal form of a text.
 */
function isCopy(place: Place): boolean {
  if (place.kind === 'string') return isEncoded(place.text ?? '');
  if (place.kind === 'object') return place.members.values().some(isCopy);
  return place.items.some((item) => item.kind === 'number' || isCopy(item));
}

function isEncoded(text: string): boolean {
  if (isSealed(text)) return true;
  const isHex = /^(?:[0-9a-f]{2}){3,}$/i.test(text);
  if (!isHex && !/^[\w+/-]{4,}={0,2}$/.test(text)) return false;
  const bytes = Buffer.from(text, isHex ? 'hex' : 'base64');
  return bytes.length > 2 && /^[\p{L}\p{N}\p{P}\p{S}\s]+$/u.test(bytes.toString('utf8')) && isUtf8(bytes);
}

export interface Leftover {
  readonly place: Place;
  /** What it is taken out of when a hook leaves it out, and its key or index there. */
  readonly owner: Place;
  readonly entry: string | number;
  /** The JSON that takes its place where it goes; undefined: it is taken out. */
  readonly emptied?: string;
}

function toJson(value: unknown): Json | undefined {
  return value === undefined || value === null ? undefined : Json.from(value);
}

import { Json } from './json.ts';
import { elementsOf, scanMembers } from './scan.ts';

/** Reads a stored value. `at` is its path in the record, for errors. Throws Error when it does not fit. */
export type Reader<Value> = (json: Json, at: string) => Value;

/** What a reader returns. */
export type ValueOf<Read> = Read extends Reader<infer Value> ? Value : never;

type OptionalReader<Value> = Reader<Value> & { readonly isOptional: true };

/** The object that `object` reads: its members, those that may be absent as optional ones. */
type ObjectOf<Members> = {
  readonly [Key in keyof Members as Members[Key] extends OptionalReader<unknown> ? never : Key]: ValueOf<
    Members[Key]
  >;
} & {
  readonly [Key in keyof Members as Members[Key] extends OptionalReader<unknown> ? Key : never]?: ValueOf<
    Members[Key]
  >;
};

export const text = plain('a text', (value) => typeof value === 'string');
export const number = plain('a number', (value) => typeof value === 'number');
export const flag = plain('true or false', (value) => typeof value === 'boolean');
/** Any value, parsed. */
export const anything: Reader<unknown> = ({ value }) => value;
/** Any value, with its exact text. */
export const exact: Reader<Json> = (json) => json;
/** Any object, with its exact text. */
export const exactObject: Reader<Json> = (json, at) => {
  if (json.text.startsWith('{')) return json;
  throw unfit(at, 'an object');
};

function plain<Value>(what: string, isFit: (value: unknown) => value is Value): Reader<Value> {
  return ({ value }, at) => {
    if (isFit(value)) return value;
    throw unfit(at, what);
  };
}

export function oneOf<const Word extends string>(...words: readonly Word[]): Reader<Word> {
  return ({ value }, at) => {
    const word = words.find((each) => each === value);
    if (word !== undefined) return word;
    throw unfit(at, `one of ${words.join(', ')}`);
  };
}

export function orNull<Value>(read: Reader<Value>): Reader<Value | null> {
  return (json, at) => (json.text === 'null' ? null : read(json, at));
}

/** A member that may be absent. */
export function optional<Value>(read: Reader<Value>): OptionalReader<Value> {
  return Object.assign((json: Json, at: string) => read(json, at), { isOptional: true } as const);
}

export function listOf<Value>(read: Reader<Value>): Reader<readonly Value[]> {
  return (json, at) => {
    if (!json.text.startsWith('[')) throw unfit(at, 'a list');
    return elementsOf(json).map((element, index) => read(element, `${at}[${index}]`));
  };
}

type Readers = Readonly<Record<string, Reader<unknown>>>;

/** An object of these members; others are left out. */
export function object<Members extends Readers>(readers: Members): Reader<ObjectOf<Members>> {
  const read = fromMembers(readers);
  return (json, at) => read(exactMembers(exactObject(json, at)), at);
}

/** The same for an object whose members are at hand. */
export function fromMembers<Members extends Readers>(readers: Members) {
  return (members: ReadonlyMap<string, Json>, at: string): ObjectOf<Members> => {
    const read: Record<string, unknown> = {};
    for (const [key, reader] of Object.entries(readers)) {
      const path = at === '' ? key : `${at}.${key}`;
      const member = members.get(key);
      if (member !== undefined) read[key] = reader(member, path);
      else if (!('isOptional' in reader)) throw new Error(`"${path}" is missing`);
    }
    return read as ObjectOf<Members>;
  };
}

/** The value as it was parsed, further members included, which `check` finds to be a `Value`. */
export function whole<Value>(check: Reader<unknown>): Reader<Value> {
  return (json, at) => {
    check(json, at);
    return json.value as Value;
  };
}

/** The members of a stored object, each with its exact text; the last of a repeated key. */
export function exactMembers(json: Json): ReadonlyMap<string, Json> {
  return new Map(
    scanMembers(json.text).map(({ key, start, end }) => [key, new Json(json.text.slice(start, end))]),
  );
}

function unfit(at: string, what: string): Error {
  return new Error(at === '' ? `it is not ${what}` : `"${at}" is not ${what}`);
}

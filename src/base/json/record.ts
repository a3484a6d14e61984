import type { Json } from './json.ts';
import { elementsOf, exactMembers } from './scan.ts';
import type { Shape } from './shape.ts';

/** Reads a stored value. `at` is its path for errors, such as `.calls[0]`. Throws Error when it does not fit. */
export type Reader<Value> = (json: Json, at: string) => Value;

/** What a part of a record is: a shape for a value as it was parsed, a reader for one whose exact text counts. */
type Part<Value> = Shape<Value> | Reader<Value>;

/** What the part of a record is read as. */
export type ValueOf<Read> = Read extends Part<infer Value> ? Value : never;

type OptionalReader<Value> = Reader<Value | undefined> & { readonly isOptional: true };

/** The object that `object` reads: its members, those that may be absent as optional ones. */
type ObjectOf<Members> = {
  readonly [Key in keyof Members as IsOptional<Members[Key]> extends true ? never : Key]: ValueOf<
    Members[Key]
  >;
} & {
  readonly [Key in keyof Members as IsOptional<Members[Key]> extends true ? Key : never]?: Exclude<
    ValueOf<Members[Key]>,
    undefined
  >;
};

type IsOptional<Read> =
  unknown extends ValueOf<Read> ? false : undefined extends ValueOf<Read> ? true : false;

/** Any value, parsed. */
export const parsed: Reader<unknown> = ({ value }) => value;
/** Any value, with its exact text. */
export const exact: Reader<Json> = (json) => json;
/** Any object, with its exact text. */
export const exactObject: Reader<Json> = (json, at) => {
  if (!json.skeleton.startsWith('{')) throw unfit(at, 'is not an object');
  return json;
};

/** A member that may be absent. */
export function ifPresent<Value>(read: Reader<Value>): OptionalReader<Value> {
  return Object.assign((json: Json, at: string) => read(json, at), { isOptional: true } as const);
}

/** A list whose elements are read one by one. */
export function eachOf<Value>(read: Reader<Value>): Reader<readonly Value[]> {
  return (json, at) => {
    if (!json.skeleton.startsWith('[')) throw unfit(at, 'is not a list');
    return elementsOf(json).map((element, index) => read(element, `${at}[${index}]`));
  };
}

type Parts = Readonly<Record<string, Part<unknown>>>;

/** An object of these members; others are left out. */
export function object<Members extends Parts>(parts: Members): Reader<ObjectOf<Members>> {
  const read = fromMembers(parts);
  return (json, at) => read(exactMembers(exactObject(json, at)), at);
}

/** The same for an object whose members are at hand. */
export function fromMembers<Members extends Parts>(parts: Members) {
  return (members: ReadonlyMap<string, Json>, at: string): ObjectOf<Members> => {
    const read: Record<string, unknown> = {};
    for (const [key, part] of Object.entries(parts)) {
      const member = members.get(key);
      const value = readPart(part, member, `${at}.${key}`);
      if (member !== undefined) read[key] = value;
    }
    return read as ObjectOf<Members>;
  };
}

function readPart(part: Part<unknown>, json: Json | undefined, at: string): unknown {
  if (typeof part !== 'function') return checked(part, json, at);
  if (json !== undefined) return part(json, at);
  if ('isOptional' in part) return undefined;
  throw unfit(at, 'is missing');
}

/** The parsed value, further members included. Throws Error when it has not the shape. */
export function checked<Value>(shape: Shape<Value>, json: Json | undefined, at: string): Value {
  const value = json?.value;
  const misfit = shape.misfit(value);
  if (misfit !== undefined) throw unfit(`${at}${misfit.path}`, misfit.problem);
  return value as Value;
}

function unfit(at: string, problem: string): Error {
  return new Error(at === '' ? `it ${problem}` : `"${at.replace(/^\./, '')}" ${problem}`);
}

import type { Json } from './json.ts';
import { elementsOf, exactMembers } from './scan.ts';
import type { Shape } from './shape.ts';

/** Reads a stored value. `at` is its path for errors, such as `.calls[0]`. Throws Error if the value does not fit. */
export type Reader<Value> = (json: Json, at: string) => Value;

type Part<Value> = Shape<Value> | Reader<Value>;

export type ValueOf<Read> = Read extends Part<infer Value> ? Value : never;

type OptionalReader<Value> = Reader<Value | undefined> & { readonly isOptional: true };

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

export const parsed: Reader<unknown> = ({ value }) => value;
export const exact: Reader<Json> = (json) => json;
export const exactObject: Reader<Json> = (json, at) => {
  if (!json.skeleton.startsWith('{')) throw unfit(at, 'is not an object');
  return json;
};

export function ifPresent<Value>(read: Reader<Value>): OptionalReader<Value> {
  return Object.assign((json: Json, at: string) => read(json, at), { isOptional: true } as const);
}

export function eachOf<Value>(read: Reader<Value>): Reader<readonly Value[]> {
  return (json, at) => {
    if (!json.skeleton.startsWith('[')) throw unfit(at, 'is not a list');
    return elementsOf(json).map((element, index) => read(element, `${at}[${index}]`));
  };
}

type Parts = Readonly<Record<string, Part<unknown>>>;

/** Ignores other members. */
export function object<Members extends Parts>(parts: Members): Reader<ObjectOf<Members>> {
  const read = fromMembers(parts);
  return (json, at) => read(exactMembers(exactObject(json, at)), at);
}

/** Like `object`, for members that are already split. */
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

/** Keeps further members. Throws Error if the value does not fit the shape. */
export function checked<Value>(shape: Shape<Value>, json: Json | undefined, at: string): Value {
  const value = json?.value;
  const misfit = shape.misfit(value);
  if (misfit !== undefined) throw unfit(`${at}${misfit.path}`, misfit.problem);
  return value as Value;
}

function unfit(at: string, problem: string): Error {
  return new Error(at === '' ? `it ${problem}` : `"${at.replace(/^\./, '')}" ${problem}`);
}

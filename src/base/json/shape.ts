import { isObject } from './json.ts';

/** What a value that was parsed from JSON has to be, so that it is a `T`; further members are no problem. */
export interface Shape<T> {
  /** The first part that does not fit; undefined when all of it does. */
  misfit(value: unknown): Misfit | undefined;
  /** For types only. */
  readonly type?: T;
}

/** What is wrong with a part of a value, such as `is not a text`. */
interface Misfit {
  /** Such as `.evals[0].id`; empty for the whole value. */
  readonly path: string;
  readonly problem: string;
}

/** The type of the values that fit a shape. */
export type TypeOf<Shaped> = Shaped extends Shape<infer Value> ? Value : never;

/** The type of an object of these members; those that may be absent are optional. */
export type MembersOf<Shapes> = {
  readonly [Key in keyof Shapes as MayBeAbsent<Shapes[Key]> extends true ? never : Key]: TypeOf<Shapes[Key]>;
} & {
  readonly [Key in keyof Shapes as MayBeAbsent<Shapes[Key]> extends true ? Key : never]?: Exclude<
    TypeOf<Shapes[Key]>,
    undefined
  >;
};

type MayBeAbsent<Shaped> =
  unknown extends TypeOf<Shaped> ? false : undefined extends TypeOf<Shaped> ? true : false;

/** The value as what it fits. Throws the error that `fail` makes of the path of what does not. */
export function readShape<T>(shape: Shape<T>, value: unknown, fail: (path: string) => Error): T {
  if (fits(shape, value)) return value;
  throw fail((shape.misfit(value)?.path ?? '').replace(/^\./, ''));
}

export function fits<T>(shape: Shape<T>, value: unknown): value is T {
  return shape.misfit(value) === undefined;
}

/** What this guard says; `what` is how errors call it. */
export function shapeOf<T>(isRight: (value: unknown) => value is T, what = 'what it has to be'): Shape<T> {
  return { misfit: (value) => (isRight(value) ? undefined : isNot(what, value)) };
}

export const text = shapeOf((value): value is string => typeof value === 'string', 'a text');
export const flag = shapeOf((value): value is boolean => typeof value === 'boolean', 'true or false');
/** A number that a double holds. */
export const number = shapeOf((value): value is number => typeof value === 'number', 'a number');
export const anything = shapeOf((_value): _value is unknown => true);
/** An object with any members. */
export const anyMembers = shapeOf(
  (value): value is Readonly<Record<string, unknown>> => isObject(value) && !JSON.isRawJSON(value),
  'an object',
);

export function oneOf<const Value extends string | number>(...values: readonly Value[]): Shape<Value> {
  const isOne = (value: unknown): value is Value => values.some((each) => each === value);
  return shapeOf(isOne, `one of ${values.join(', ')}`);
}

/** The name of a member of the object. */
export function keyOf<Key extends string>(object: Readonly<Record<Key, unknown>>): Shape<Key> {
  return shapeOf((value): value is Key => typeof value === 'string' && Object.hasOwn(object, value));
}

export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return {
    misfit: (value) => {
      if (!Array.isArray(value)) return isNot('a list', value);
      for (const [index, each] of value.entries()) {
        const misfit = item.misfit(each);
        if (misfit !== undefined) return { ...misfit, path: `[${index}]${misfit.path}` };
      }
      return undefined;
    },
  };
}

/** An object whose members, whatever their names, all have one shape. */
export function recordOf<T>(member: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return objectOf((value) => Object.keys(value).map((key) => [key, member]));
}

/** An object with these members. A type that is given has each of them, `optional` where it lets one be absent. */
export function members<Shapes extends Readonly<Record<string, Shape<unknown>>>>(
  shapes: Shapes,
): Shape<MembersOf<Shapes>>;
export function members<T extends object>(shapes: { readonly [Key in keyof T]-?: Shape<T[Key]> }): Shape<T>;
export function members(shapes: Readonly<Record<string, Shape<unknown>>>): Shape<object> {
  const entries = Object.entries(shapes);
  return objectOf(() => entries);
}

export function nullOr<T>(shape: Shape<T>): Shape<T | null> {
  return { misfit: (value) => (value === null ? undefined : shape.misfit(value)) };
}

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return { misfit: (value) => (value === undefined ? undefined : shape.misfit(value)) };
}

/** All of the one and all of the other. */
export function both<One, Other>(one: Shape<One>, other: Shape<Other>): Shape<One & Other> {
  return { misfit: (value) => one.misfit(value) ?? other.misfit(value) };
}

function objectOf<T>(
  shapesOf: (value: object) => readonly (readonly [key: string, Shape<unknown>])[],
): Shape<T> {
  return {
    misfit: (value) => {
      if (!fits(anyMembers, value)) return isNot('an object', value);
      for (const [key, shape] of shapesOf(value)) {
        const misfit = shape.misfit(value[key]);
        if (misfit !== undefined) return { ...misfit, path: `.${key}${misfit.path}` };
      }
      return undefined;
    },
  };
}

/** No value in JSON is undefined: such a member is absent. */
function isNot(what: string, value: unknown): Misfit {
  return { path: '', problem: value === undefined ? 'is missing' : `is not ${what}` };
}

import { isObject } from './json.ts';

/** What a parsed JSON value must be to be a `T`. Further members are allowed. */
export interface Shape<T> {
  misfit(value: unknown): Misfit | undefined;
  readonly type?: T;
}

interface Misfit {
  /** Such as `.evals[0].id`; empty for the whole value. */
  readonly path: string;
  readonly problem: string;
}

export type TypeOf<Shaped> = Shaped extends Shape<infer Value> ? Value : never;

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

/** Throws `fail(path)` for the first part that does not fit. */
export function readShape<T>(shape: Shape<T>, value: unknown, fail: (path: string) => Error): T {
  if (fits(shape, value)) return value;
  throw fail((shape.misfit(value)?.path ?? '').replace(/^\./, ''));
}

export function fits<T>(shape: Shape<T>, value: unknown): value is T {
  return shape.misfit(value) === undefined;
}

/** `what` names the expected value in errors. */
export function shapeOf<T>(isRight: (value: unknown) => value is T, what = 'what is expected'): Shape<T> {
  return { misfit: (value) => (isRight(value) ? undefined : isNot(what, value)) };
}

export const text = shapeOf((value): value is string => typeof value === 'string', 'a text');
export const flag = shapeOf((value): value is boolean => typeof value === 'boolean', 'true or false');
export const number = shapeOf((value): value is number => typeof value === 'number', 'a number');
export const anything = shapeOf((_value): _value is unknown => true);
export const anyMembers = shapeOf(
  (value): value is Readonly<Record<string, unknown>> => isObject(value) && !JSON.isRawJSON(value),
  'an object',
);

export function oneOf<const Value extends string | number>(...values: readonly Value[]): Shape<Value> {
  const isOne = (value: unknown): value is Value => values.some((each) => each === value);
  return shapeOf(isOne, `one of ${values.join(', ')}`);
}

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

/** An object with any keys whose values all fit `member`. */
export function recordOf<T>(member: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return objectOf((value) => Object.keys(value).map((key) => [key, member]));
}

/** With an explicit type, every member needs a shape, `optional` if it may be absent. */
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

function isNot(what: string, value: unknown): Misfit {
  return { path: '', problem: value === undefined ? 'is missing' : `is not ${what}` };
}

import { isObject } from './json.ts';

/** What a value that was parsed from JSON has to be, so that it is a `T`; further members are no problem. */
export interface Shape<T> {
  /** The path of the first part that does not fit, such as `.evals[0].id`; undefined when all of it does. */
  misfit(value: unknown): string | undefined;
  /** For types only. */
  readonly type?: T;
}

/** The value as what it fits. Throws the error that `fail` makes of the path of what does not. */
export function readShape<T>(shape: Shape<T>, value: unknown, fail: (path: string) => Error): T {
  if (fits(shape, value)) return value;
  throw fail((shape.misfit(value) ?? '').replace(/^\./, ''));
}

export function fits<T>(shape: Shape<T>, value: unknown): value is T {
  return shape.misfit(value) === undefined;
}

/** What this guard says. */
export function shapeOf<T>(isRight: (value: unknown) => value is T): Shape<T> {
  return { misfit: (value) => (isRight(value) ? undefined : '') };
}

export const text = shapeOf((value): value is string => typeof value === 'string');
export const flag = shapeOf((value): value is boolean => typeof value === 'boolean');
/** A number that a double holds. */
export const number = shapeOf((value): value is number => typeof value === 'number');
export const anything = shapeOf((_value): _value is unknown => true);
/** An object with any members. */
export const anyMembers = shapeOf(
  (value): value is Readonly<Record<string, unknown>> => isObject(value) && !JSON.isRawJSON(value),
);

export function oneOf<const Value extends string | number>(...values: readonly Value[]): Shape<Value> {
  return shapeOf((value): value is Value => values.some((each) => each === value));
}

/** The name of a member of the object. */
export function keyOf<Key extends string>(object: Readonly<Record<Key, unknown>>): Shape<Key> {
  return shapeOf((value): value is Key => typeof value === 'string' && Object.hasOwn(object, value));
}

export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return {
    misfit: (value) => {
      if (!Array.isArray(value)) return '';
      for (const [index, each] of value.entries()) {
        const path = item.misfit(each);
        if (path !== undefined) return `[${index}]${path}`;
      }
      return undefined;
    },
  };
}

/** An object whose members, whatever their names, all have one shape. */
export function recordOf<T>(member: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    misfit: (value) =>
      fits(anyMembers, value)
        ? misfitOf(
            value,
            Object.keys(value).map((key) => [key, member]),
          )
        : '',
  };
}

/** An object with these members: one for each of the type, `optional` where the type lets it be absent. */
export function members<T extends object>(
  shapes: {
    readonly [Key in keyof T]-?: Shape<T[Key]>;
  },
): Shape<T> {
  const entries = Object.entries<Shape<unknown>>(shapes);
  return { misfit: (value) => (fits(anyMembers, value) ? misfitOf(value, entries) : '') };
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

function misfitOf(
  value: Readonly<Record<string, unknown>>,
  shapes: readonly (readonly [key: string, Shape<unknown>])[],
): string | undefined {
  for (const [key, shape] of shapes) {
    const path = shape.misfit(value[key]);
    if (path !== undefined) return `.${key}${path}`;
  }
  return undefined;
}

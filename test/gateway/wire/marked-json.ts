import fc from 'fast-check';
import { Json, stringifyJson } from '../../../src/base/json/json.ts';

/** A text that stands nowhere else, and that is no plain id. */
const marker = 'zq qz';

type Path = readonly (string | number)[];

/** How a mark gets into a JSON value. */
export interface Mark {
  readonly at: number;
  readonly how: 'value' | 'member' | 'key' | 'inside' | 'list';
}

export const marks: fc.Arbitrary<Mark> = fc.record({
  at: fc.nat(10_000),
  how: fc.constantFrom('value', 'member', 'key', 'inside', 'list'),
});

/** The value with the marker somewhere: in the place of a value, inside of a text, or as a new member. */
export function markValue(value: unknown, { at, how }: Mark): unknown {
  const copy: unknown = structuredClone(value);
  const paths = pathsOf(copy).filter((path) => path.length > 0);
  const path = paths[at % paths.length];
  if (path === undefined) return copy;
  const holder = path.slice(0, -1).reduce<unknown>(childOf, copy);
  const key = path.at(-1) ?? '';
  const before = childOf(holder, key);
  if (typeof before === 'object' && before !== null && !Array.isArray(before)) {
    if (how === 'member') setAt(before, 'extra', `a ${marker} b`);
    else if (how === 'key') setAt(before, `k ${marker}`, 1);
    else if (how === 'list') setAt(before, 'list', [{ deep: [marker] }]);
    else setAt(holder, key, marker);
  } else if (how === 'inside' && typeof before === 'string')
    setAt(holder, key, `${before} ${marker} ${before}`);
  else setAt(holder, key, how === 'list' ? [marker] : marker);
  return copy;
}

/** The value with another text in the place of the marker, in keys as well. */
export function redact(value: unknown): unknown {
  return JSON.parse(stringifyJson(value).replaceAll(marker, 'gone'));
}

/** Whether the marker is in a text of the JSON value, however it is spelt there. */
export function isMarked(json: unknown): boolean {
  return stringifyJson(JSON.parse(stringifyJson(json instanceof Json ? json.value : json))).includes(marker);
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, key]))];
}

function childOf(holder: unknown, key: string | number): unknown {
  return typeof holder === 'object' && holder !== null ? Reflect.get(holder, key) : undefined;
}

function setAt(holder: unknown, key: string | number, value: unknown): void {
  if (typeof holder === 'object' && holder !== null) Reflect.set(holder, key, value);
}

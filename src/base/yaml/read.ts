import { isObject, parseLossless } from '../json/json.ts';
import { longestMs } from '../time/async.ts';
import type { Path, YamlDocument } from './document.ts';

export interface MappingEntry {
  readonly name: string;
  readonly path: Path;
  readonly value: unknown;
}

export function valueAt(document: YamlDocument, path: Path): unknown {
  let value = document.value;
  for (const segment of path) {
    if (Array.isArray(value)) value = value[Number(segment)];
    else if (isObject(value) && Object.hasOwn(value, segment)) value = value[segment];
    else return undefined;
  }
  return value;
}

/** The entries in file order; empty if there is no mapping. */
export function entriesAt(document: YamlDocument, path: Path): MappingEntry[] {
  const mapping = valueAt(document, path);
  if (!isObject(mapping)) return [];
  return document.keysOf(path).map((name) => {
    const value = Object.hasOwn(mapping, name) ? mapping[name] : undefined;
    return { name, path: [...path, name], value };
  });
}

export function textsByNameAt(
  document: YamlDocument,
  path: Path,
): Readonly<Record<string, string>> | undefined {
  if (!isObject(valueAt(document, path))) return undefined;
  const entries = entriesAt(document, path);
  return Object.fromEntries(entries.map((entry) => [entry.name, textAt(document, entry.path) ?? '']));
}

/** The paths of list items; empty if there is no list. */
export function itemsAt(document: YamlDocument, path: Path): Path[] {
  const list = valueAt(document, path);
  return Array.isArray(list) ? list.map((_item, index) => [...path, index]) : [];
}

/** Returns a number or boolean as its text in the file. */
export function textAt(document: YamlDocument, path: Path): string | undefined {
  const value = valueAt(document, path);
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  return document.sourceOf(path) ?? String(value);
}

export function nonEmptyTextAt(document: YamlDocument, path: Path): string | undefined {
  return textAt(document, path) || undefined;
}

export function choiceAt<Word extends string>(
  document: YamlDocument,
  path: Path,
  words: readonly Word[],
): Word | undefined {
  const text = textAt(document, path);
  return words.find((word) => word === text);
}

/** A whole number of at least `least`, rounded down. */
export function integerAt(document: YamlDocument, path: Path, least = 1): number | undefined {
  const value = valueAt(document, path);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const whole = Math.trunc(value);
  return whole < least ? undefined : whole;
}

/** Finite numbers only. */
export function numberAt(document: YamlDocument, path: Path): number | undefined {
  const value = valueAt(document, path);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Numbers that are too long for a double keep the digits in the file. */
export function exactValueAt(document: YamlDocument, path: Path, value = valueAt(document, path)): unknown {
  if (typeof value === 'number') return exactNumber(value, document.sourceOf(path));
  if (Array.isArray(value)) return value.map((item, index) => exactValueAt(document, [...path, index], item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, exactValueAt(document, [...path, key], member)]),
  );
}

/** The JSON Schema at `path`; numbers that are too long for a double keep their digits. */
export function schemaAt(
  document: YamlDocument,
  path: Path,
): Readonly<Record<string, unknown>> | boolean | undefined {
  const schema = valueAt(document, path);
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return undefined;
  // Most schemas have no such number and need no copy.
  const exact = holdsLongNumber(schema, new Set()) ? exactValueAt(document, path) : schema;
  return isObject(exact) ? exact : undefined;
}

function holdsLongNumber(tree: unknown, seen: Set<object>): boolean {
  if (typeof tree === 'number') return String(tree).length > 15 || Math.abs(tree) >= 1e15;
  if (typeof tree !== 'object' || tree === null || seen.has(tree)) return false;
  seen.add(tree);
  return Object.values(tree).some((each) => holdsLongNumber(each, seen));
}

/** Returns the digits (`JSON.rawJSON`) if the source has more than a double holds. */
export function exactNumber(value: number, source: string | undefined): unknown {
  const isJson = source !== undefined && /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(source);
  return isJson ? parseLossless(source) : value;
}

export function infiniteNumbersAt(document: YamlDocument, path: Path): Path[] {
  const value = valueAt(document, path);
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [path];
  return keysIn(value).flatMap((key) => infiniteNumbersAt(document, [...path, key]));
}

/** Mapping keys or list indices; empty for any other value. */
export function keysIn(value: unknown): readonly (string | number)[] {
  if (Array.isArray(value)) return [...value.keys()];
  return isObject(value) ? Object.keys(value) : [];
}

/** Milliseconds, at most what a timer can wait. */
export function millisecondsAt(document: YamlDocument, path: Path, least = 1): number | undefined {
  const whole = integerAt(document, path, least);
  return whole === undefined ? undefined : Math.min(whole, longestMs);
}

/** Patterns are dotted words; `*` matches any segment. */
export function isAt(path: Path, ...patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const words = pattern.split('.');
    return words.length === path.length && words.every((word, index) => word === '*' || word === path[index]);
  });
}

/** Patterns that match the key in every entry that starts a process. */
export function execKeyPatterns(key: string): string[] {
  return [`spec.tools.*.exec.${key}`, `spec.evals.*.${key}`, `spec.hooks.*.${key}`];
}

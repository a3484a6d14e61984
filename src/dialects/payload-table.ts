import { RuntimeError } from '../base/errors.ts';
import { isObject, Json } from '../base/json/json.ts';
import type { HookContext } from '../contract/turn.ts';
import type { Payload } from './foreign-dialect.ts';

/** The kind of a member. count, fuel and delta are integers, the last two of 64 bits. */
export type Kind = keyof typeof kinds;

const kinds = {
  text: ({ value }: Json) => typeof value === 'string',
  'text or null': ({ value }: Json) => typeof value === 'string' || value === null,
  'filled text': ({ value }: Json) => typeof value === 'string' && value !== '',
  flag: ({ value }: Json) => typeof value === 'boolean',
  number: ({ value }: Json) => typeof value === 'number',
  'number or null': ({ value }: Json) => typeof value === 'number' || value === null,
  integer: ({ value }: Json) => Number.isInteger(value),
  count: ({ text }: Json) => /^\d+$/.test(text),
  fuel: ({ text }: Json) => /^\d+$/.test(text) && BigInt(text) < 2n ** 64n,
  delta: ({ text }: Json) =>
    /^(-[1-9]\d*|\d+)$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text),
  object: ({ value }: Json) => isObject(value),
  list: ({ value }: Json) => Array.isArray(value),
  names: ({ value }: Json) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  any: () => true,
} as const;

export function isOfKind(json: Json, kind: Kind): boolean {
  return kinds[kind](json);
}

type Check = (value: Json, key: string) => string | undefined;

export interface Member {
  readonly check: Check;
  readonly isOptional?: true;
  /** The default if a host omits the member, or a function of the hook context and the given members. */
  readonly fallback?: unknown;
}

export type Table = Readonly<Record<string, Member>>;

/** A required member. `problem` is the message for a value of another kind. */
export function member(kind: Kind, problem: string): Member {
  return { check: (json) => (isOfKind(json, kind) ? undefined : problem) };
}

export function withFallback(row: Member, fallback: Fallback | Value): Member {
  return { ...row, fallback };
}

type Value = string | number | boolean | object | null;
type Fallback = (hookContext: HookContext, given: Payload) => unknown;

export function optional(row: Member): Member {
  return { ...row, isOptional: true };
}

export function defaultsOf(table: Table, given: Payload, hookContext: HookContext): Payload {
  const values = Object.entries(table).map(([key, { fallback }]) => [
    key,
    typeof fallback === 'function' ? fallback(hookContext, given) : fallback,
  ]);
  return omitUndefined(Object.fromEntries(values));
}

/** The host's members in their order, then the defaults of omitted ones. */
export function fillIn(table: Table, given: Payload, hookContext: HookContext): Payload {
  return { ...given, ...defaultsOf(table, given, hookContext), ...omitUndefined(given) };
}

export function samplePayload(table: Table): Payload {
  const needed = Object.entries(table).filter(
    ([, { isOptional, fallback }]) => isOptional !== true && fallback === undefined,
  );
  return Object.fromEntries(needed.map(([key, { check }]) => [key, sampleOf(key, check)]));
}

function sampleOf(key: string, check: Check): unknown {
  return samples.find((value) => check(Json.from(value), key) === undefined);
}

const samples: readonly unknown[] = ['sample', {}, [], 1, true];

/** Throws EVENT_INVALID for the first member that is missing or wrong. `explain` makes the message. */
export function requireMembers(
  table: Table,
  payload: Payload,
  explain: (key: string, problem: string | undefined) => string,
): void {
  for (const [key, { check, isOptional }] of Object.entries(table)) {
    const value = payload[key];
    if (value === undefined && isOptional) continue;
    const problem = value === undefined ? undefined : check(Json.from(value), key);
    if (value === undefined || problem !== undefined) throw invalidPayload(explain(key, problem));
  }
}

export function invalidPayload(message: string): RuntimeError {
  const hint =
    'A payload is what the point receives on stdin; docs/reference/dialects.md lists the points of every dialect.';
  return new RuntimeError('EVENT_INVALID', message, { hint });
}

export function toPlainValue(value: unknown): unknown {
  return value instanceof Json ? value.value : value;
}

export function valueAt(tree: unknown, key: string): unknown {
  const plain = toPlainValue(tree);
  return isObject(plain) && Object.hasOwn(plain, key) ? toPlainValue(plain[key]) : undefined;
}

export function textAt(tree: unknown, key: string): string | undefined {
  const value = valueAt(tree, key);
  return typeof value === 'string' ? value : undefined;
}

export function omitUndefined(payload: Payload): Payload {
  return Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
}

/** Like `typeof`, but `list` and `null` for what JavaScript calls objects. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

/** `path`, or `file_path` if that is missing or empty. May have any type. */
export function pathArgumentOf({ path, file_path }: Readonly<Record<string, unknown>>): unknown {
  return path === undefined || path === null || path === '' ? file_path : path;
}

import { isObject, Json, parseLossless } from '../json/json.ts';
import { celLibrary } from './cel-library.ts';

/**
 * Converts a JSON value for CEL: raw integers to bigint, objects with a `constructor` key to maps, a `Json` to what its
 * text holds.
 */
export function celFromPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Json) return celFromPlain(parseLossless(value.text));
  if (JSON.isRawJSON(value)) {
    return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON);
  }
  if (isObject(value) && Object.hasOwn(value, 'constructor')) {
    return new Map(Object.entries(value).map(([key, member]) => [key, celFromPlain(member)]));
  }
  if (!Object.isFrozen(value)) return changeMembers(value, celFromPlain);
  const known = converted.get(value) ?? changeMembers(value, celFromPlain);
  converted.set(value, known);
  return known;
}

/** The converted forms of frozen values, so that a large view is converted once for all expressions. */
const converted = new WeakMap<object, unknown>();

/** A plain JSON value, in which long integers keep their digits (`JSON.rawJSON`). Throws RangeError. */
export function plainFromCel(value: unknown): unknown {
  if (typeof value === 'bigint') return plainInteger(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`the result is ${value}, which JSON cannot hold`);
  }
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (value instanceof Json) return parseLossless(value.text);
  if (value instanceof celLibrary().Optional) return value.hasValue() ? plainFromCel(value.value()) : null;
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, member]) => [key, plainFromCel(member)]));
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) || isPlain(value)) return changeMembers(value, plainFromCel);
  const primitive = value.valueOf();
  return typeof primitive === 'bigint' ? plainInteger(primitive) : String(value);
}

function plainInteger(integer: bigint): unknown {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(integer));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.hasOwn(value, 'constructor');
}

/** The same list or object if `change` changes none of its members, else a changed copy. */
function changeMembers(value: object, change: (member: unknown) => unknown): unknown {
  let changed = false;
  const track = (member: unknown): unknown => {
    const next = change(member);
    changed ||= !Object.is(next, member);
    return next;
  };
  const copy = Array.isArray(value)
    ? value.map(track)
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, track(member)]));
  return changed ? copy : value;
}

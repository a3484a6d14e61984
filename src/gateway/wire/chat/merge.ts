import { isSameByValue } from '../../../json/equal.ts';
import { isObject } from '../../../json/json.ts';
import { invalidAnswer } from '../faults.ts';

/** Values of an object of a stream, by key; a Map, since a key may be `__proto__`. */
export type Members = Map<string, unknown>;

/**
 * Puts together two values that frames of a stream have under one name which no client has rules for, so that no text of either is
 * lost. Texts that `grow` are pieces; others repeat themselves, and are joined when they differ.
 */
export function mergeValues(before: unknown, value: unknown, grows: boolean): unknown {
  if (before === undefined || before === null) return value;
  if (value === undefined || value === null) return before;
  if (typeof before === 'string' && typeof value === 'string') {
    return !grows && before === value ? before : before + value;
  }
  if (Array.isArray(before) && Array.isArray(value)) return mergeLists(before, value, grows);
  if (isTree(before) && isTree(value)) {
    const merged: Members = new Map(Object.entries(before));
    for (const [key, member] of Object.entries(value))
      merged.set(key, mergeValues(merged.get(key), member, grows));
    return Object.fromEntries(merged);
  }
  return isFigure(before) && isFigure(value) ? value : [before, value];
}

/**
 * A piece of a text that clients join. They make one text of strings, numbers and lists of them alike, which hooks would see apart;
 * of objects, such as the parts of a content, they make none. Throws RefusedCall (502).
 */
export function requirePiece(value: unknown): unknown {
  const isPiece =
    typeof value === 'string' ||
    value === null ||
    isTree(value) ||
    (Array.isArray(value) && value.every(isTree));
  if (!isPiece) throw invalidAnswer('a text of its stream comes in another type');
  return value;
}

/** Elements with an `index` grow at it, as the `reasoning_details` of OpenRouter do. */
function mergeLists(before: unknown[], value: readonly unknown[], grows: boolean): unknown[] {
  if (!grows && isSameByValue(before, value)) return before;
  // Copied once: a list may get an element with each of many frames.
  const merged = own.has(before) ? before : [...before];
  own.add(merged);
  for (const item of value) {
    const index = placeOf(item);
    const at = index === undefined ? -1 : merged.findIndex((each) => placeOf(each) === index);
    if (at === -1) merged.push(item);
    else merged[at] = mergeItems(merged[at], item);
  }
  return merged;
}

/** Lists that no frame holds. */
const own = new WeakSet<readonly unknown[]>();

/** Words that come again with every piece are no pieces. */
function mergeItems(before: unknown, item: unknown): unknown {
  if (!isTree(before) || !isTree(item)) return [before, item];
  const merged: Members = new Map(Object.entries(before));
  for (const [key, member] of Object.entries(item)) {
    merged.set(key, mergeValues(merged.get(key), member, !['type', 'format', 'id'].includes(key)));
  }
  return Object.fromEntries(merged);
}

function placeOf(item: unknown): number | undefined {
  if (!isTree(item)) return undefined;
  const { index } = item;
  return typeof index === 'number' ? index : undefined;
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !JSON.isRawJSON(value);
}

function isFigure(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || JSON.isRawJSON(value);
}

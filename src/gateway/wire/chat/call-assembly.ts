import { isObject } from '../../../json/json.ts';
import { invalidAnswer } from '../faults.ts';
import { type Members, mergeValues, requirePiece } from './merge.ts';

/** The most tool calls of a choice. */
const MAX_CALLS = 1024;

/** Tool calls that come in pieces, by their index. */
export class CallAssembly {
  readonly #calls = new Map<number, Members>();
  /** Whether pieces have an index, as the first one had. */
  #isIndexed: boolean | undefined;

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  add(deltas: unknown): void {
    if (deltas === undefined || deltas === null) return;
    if (!Array.isArray(deltas)) throw invalidAnswer('the tool calls of a frame are no list');
    for (const delta of deltas) this.#addCall(delta);
  }

  /**
   * The index that a piece has or, as servers such as Gemini's leave it out, must have: that of the call with its id, of a new call if
   * it names a function, or of the only call. Of calls with and without an index nobody can tell.
   */
  #indexOf(delta: Readonly<Record<string, unknown>>): number {
    const { index, id } = delta;
    this.#isIndexed ??= index !== undefined && index !== null;
    if (this.#isIndexed) {
      if (typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < MAX_CALLS)
        return index;
      throw invalidAnswer('a tool call of a frame has no index');
    }
    const isNew =
      isText(id) ||
      [delta['function'], delta['custom']].some((held) => isObject(held) && isText(held['name']));
    const known = isText(id)
      ? this.#calls.entries().find(([, call]) => call.get('id') === id)?.[0]
      : undefined;
    const found = known ?? (isNew ? this.#calls.size : this.#calls.size === 1 ? 0 : undefined);
    if ((index !== undefined && index !== null) || found === undefined || found >= MAX_CALLS)
      throw invalidAnswer('a tool call of a frame has no index, and could be a part of several');
    return found;
  }

  /** The calls in the order of their indexes, which the unstreamed answer does not have. */
  list(): unknown[] {
    return [...this.#calls]
      .toSorted(([one], [other]) => one - other)
      .map(([, call]) => Object.fromEntries(call));
  }

  #addCall(delta: unknown): void {
    if (!isObject(delta)) throw invalidAnswer('a tool call of a frame is no object');
    const index = this.#indexOf(delta);
    const call: Members = this.#calls.get(index) ?? new Map();
    this.#calls.set(index, call);
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'index') continue;
      if (key === 'function') call.set(key, mergeFunction(call.get(key), value, 'arguments'));
      else if (key === 'custom') call.set(key, mergeFunction(call.get(key), value, 'input'));
      else if (key === 'id' || key === 'type') setOnce(call, key, value);
      else call.set(key, mergeValues(call.get(key), value, true));
    }
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A function whose name comes once, or again as it was, and whose arguments come in pieces. */
export function mergeFunction(before: unknown, value: unknown, growing: string): unknown {
  if (value === undefined || value === null) return before;
  if (!isObject(value)) throw invalidAnswer('a tool call of a frame is no object');
  const merged: Members = new Map(Object.entries(before ?? {}));
  for (const [key, member] of Object.entries(value)) {
    if (key === 'name') setOnce(merged, key, member);
    else if (key === growing && isObject(member))
      throw invalidAnswer('the arguments of a tool call come in no text');
    else if (key === growing) merged.set(key, mergeValues(merged.get(key), requirePiece(member), true));
    else merged.set(key, mergeValues(merged.get(key), member, true));
  }
  return Object.fromEntries(merged);
}

/** Some clients would join names, others take the last one: only one reading is let through. */
function setOnce(members: Members, key: string, value: unknown): void {
  const before = members.get(key) ?? '';
  if (value === undefined || value === null || value === '' || value === before) {
    if (!members.has(key) && value !== undefined) members.set(key, value);
    return;
  }
  if (before !== '') throw invalidAnswer(`a tool call has the \`${key}\` of two`);
  members.set(key, value);
}

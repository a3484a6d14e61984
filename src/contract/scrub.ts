import { type Fault, RuntimeError } from '../base/errors.ts';
import { isObject, Json } from '../base/json/json.ts';
import { isJson } from '../base/json/parse.ts';

/** Takes secrets out of a text; JSON stays JSON. */
export type Redact = (text: string) => string;

/** Removes secrets from texts. */
export interface Scrubber {
  /** For messages and logs: hides known values, and whatever follows the name of a credential. */
  text(text: string): string;
  /** For data: hides known values only. Returns the same string if there are none in it. */
  values(text: string): string;
  /** As `text`, for a streamed text. */
  stream(): ScrubStream;
  /** Adds values to hide from now on. */
  add(secrets: Iterable<string>): void;
}

export interface ScrubStream {
  /** Returns what can be shown by now, usually whole lines. */
  push(text: string): string;
  /** The held-back text as it would be shown if the stream ended now. Changes nothing. */
  rest(): string;
}

/** A scrubber without secrets, for tests and parts that have none. */
export const noopScrubber: Scrubber = {
  text: (text) => text,
  values: (text) => text,
  stream: () => ({ push: (text) => text, rest: () => '' }),
  add: () => {},
};

/** The error with message, hint and details scrubbed; the same object if there was nothing to hide. */
export function scrubError(error: RuntimeError, scrubber: Scrubber): RuntimeError {
  const { code, message, hint, details } = error;
  const clean = scrubFault({ code, message, hint, details }, scrubber);
  if (clean.message === message && clean.hint === hint && clean.details === details) return error;
  // The cause is dropped, since its message may hold the same secret.
  const scrubbed = new RuntimeError(code, clean.message, { hint: clean.hint, details: clean.details });
  const stack = error.stack;
  if (stack !== undefined) scrubbed.stack = scrubber.text(stack);
  return scrubbed;
}

/** The fault with message, hint and details scrubbed; the same object if there was nothing to hide. */
export function scrubFault(fault: Fault, scrubber: Scrubber): Fault {
  const { code, message, hint, details } = fault;
  const clean = details === undefined ? undefined : scrubMembers(details, (text) => scrubber.text(text));
  const texts = [scrubber.text(message), scrubber.text(hint)];
  if (clean === details && texts[0] === message && texts[1] === hint) return fault;
  return {
    code,
    message: scrubber.text(message),
    hint: scrubber.text(hint),
    ...(clean !== undefined && { details: clean }),
  };
}

/**
 * Scrubs the messages and the fault of an outcome, answer or document; all other members are data and stay
 * exact. Of a list, those of each element.
 */
export function scrubMessages<Value extends object>(value: Value, scrubber: Scrubber): Value {
  if (Array.isArray(value)) return mapObjects(value, (element) => scrubMessages(element, scrubber));
  if (!hasMessages(value)) return value;
  const members = Object.entries(value).map(([key, member]: [string, unknown]) => {
    if (key === 'error' && isFault(member)) return [key, scrubFault(member, scrubber)];
    return [key, messageKeys.has(key) && typeof member === 'string' ? scrubber.text(member) : member];
  });
  const changed = members.filter(([key, member]) => Reflect.get(value, String(key)) !== member);
  // A document knows the exact text of its parts, and a copy of it does not.
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

/** Most outcomes are data alone, and an empty message stays as it is. */
function hasMessages(value: object): boolean {
  for (const key in value) {
    if (key === 'error' || (messageKeys.has(key) && Reflect.get(value, key) !== '')) return true;
  }
  return false;
}

/** The elements with those that are objects mapped; the same list if none of them changed. */
function mapObjects<List extends readonly unknown[]>(
  list: List,
  map: (element: object, at: number) => object,
): List {
  const mapped = list.map((element: unknown, at) =>
    typeof element === 'object' && element !== null ? map(element, at) : element,
  );
  // The elements keep their types: only texts in them changed.
  return mapped.every((element, at) => element === list[at]) ? list : (mapped as unknown as List);
}

/** The value with the messages and the fault of `other`, for each that both have; of lists, element by element. */
export function withMessagesOf<Value extends object>(value: Value, other: object): Value {
  if (Array.isArray(value)) {
    return mapObjects(value, (element, at) => {
      const counterpart: unknown = Reflect.get(other, at);
      return typeof counterpart === 'object' && counterpart !== null
        ? withMessagesOf(element, counterpart)
        : element;
    });
  }
  const members = Object.entries(value).map(([key, member]: [string, unknown]) => {
    const otherMember: unknown = Reflect.get(other, key);
    const areMessages = messageKeys.has(key) && typeof member === 'string' && typeof otherMember === 'string';
    const areFaults = key === 'error' && isFault(member) && isFault(otherMember);
    return [key, areMessages || areFaults ? otherMember : member];
  });
  return { ...value, ...Object.fromEntries(members) };
}

/** Members that hold a message, not data. */
const messageKeys: ReadonlySet<string> = new Set(['reason', 'detail', 'message', 'stderr']);

function isFault(value: unknown): value is Fault {
  return isObject(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string';
}

/** The tree with its strings, keys included, rewritten; the same tree if none of them changed. */
export function scrubMembers<Value>(value: Value, rewrite: (text: string) => string): Value {
  const changed = rewriteAny(value, rewrite, 0);
  // The shape is the same: only texts were rewritten.
  return changed as Value;
}

function rewriteAny(value: unknown, rewrite: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return rewrite(value);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (depth === DEEPEST) return '[nested too deeply]';
  if (value instanceof Json) {
    const text = rewrite(value.text);
    return text === value.text ? value : isJson(text) ? new Json(text) : Json.from(text);
  }
  return Array.isArray(value) ? rewriteList(value, rewrite, depth) : rewriteObject(value, rewrite, depth);
}

/** Copies nothing before the first change: most records have none. */
function rewriteList(list: readonly unknown[], rewrite: (text: string) => string, depth: number): unknown {
  let changed: unknown[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const element = rewriteAny(list[at], rewrite, depth + 1);
    if (element !== list[at]) changed ??= [...list];
    if (changed !== undefined) changed[at] = element;
  }
  return changed ?? list;
}

function rewriteObject(value: object, rewrite: (text: string) => string, depth: number): unknown {
  const isSame = Object.keys(value).every((key) => {
    const member: unknown = Reflect.get(value, key);
    return rewrite(key) === key && rewriteAny(member, rewrite, depth + 1) === member;
  });
  if (isSame) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [rewrite(key), rewriteAny(member, rewrite, depth + 1)]),
  );
}

const DEEPEST = 64;

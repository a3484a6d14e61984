import { type Fault, RuntimeError } from '../base/errors.ts';
import { isObject, Json } from '../base/json/json.ts';
import { isJson } from '../base/json/parse.ts';

/** Removes secrets from a text; JSON stays JSON. */
export type Redact = (text: string) => string;

export interface Scrubber {
  /** For messages and logs: hides known values, and any text after the name of a credential. */
  text(text: string): string;
  /** For data: hides known values only. Returns the same string without any. */
  values(text: string): string;
  stream(): ScrubStream;
  add(secrets: Iterable<string>): void;
}

export interface ScrubStream {
  /** Returns the text that can be shown so far, usually whole lines. */
  push(text: string): string;
  /** The held-back text as shown if the stream ended now. Changes nothing. */
  rest(): string;
}

export const noopScrubber: Scrubber = {
  text: (text) => text,
  values: (text) => text,
  stream: () => ({ push: (text) => text, rest: () => '' }),
  add: () => {},
};

/** Scrubs message, hint and details; returns the same object if nothing was hidden. */
export function scrubError(error: RuntimeError, scrubber: Scrubber): RuntimeError {
  const { code, message, hint, details } = error;
  const clean = scrubFault({ code, message, hint, details }, scrubber);
  if (clean.message === message && clean.hint === hint && clean.details === details) return error;
  // The cause is dropped, since its message may contain the same secret.
  const scrubbed = new RuntimeError(code, clean.message, { hint: clean.hint, details: clean.details });
  const stack = error.stack;
  if (stack !== undefined) scrubbed.stack = scrubber.text(stack);
  return scrubbed;
}

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

/** Scrubs the messages and the fault of an outcome, answer or document, or of a list's elements, but no data. */
export function scrubMessages<Value extends object>(value: Value, scrubber: Scrubber): Value {
  if (Array.isArray(value)) return mapObjects(value, (element) => scrubMessages(element, scrubber));
  if (!hasMessages(value)) return value;
  const members = Object.entries(value).map(([key, member]: [string, unknown]) => {
    if (key === 'error' && isFault(member)) return [key, scrubFault(member, scrubber)];
    return [key, messageKeys.has(key) && typeof member === 'string' ? scrubber.text(member) : member];
  });
  const changed = members.filter(([key, member]) => Reflect.get(value, String(key)) !== member);
  // A copy of a document loses the exact text of its parts, so an unchanged one is returned itself.
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

function hasMessages(value: object): boolean {
  for (const key in value) {
    if (key === 'error' || (messageKeys.has(key) && Reflect.get(value, key) !== '')) return true;
  }
  return false;
}

function mapObjects<List extends readonly unknown[]>(
  list: List,
  map: (element: object, at: number) => object,
): List {
  const mapped = list.map((element: unknown, at) =>
    typeof element === 'object' && element !== null ? map(element, at) : element,
  );
  return mapped.every((element, at) => element === list[at]) ? list : (mapped as unknown as List);
}

/** Takes messages and fault of `other` where both have them; of lists, element by element. */
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

const messageKeys: ReadonlySet<string> = new Set(['reason', 'detail', 'message', 'stderr']);

function isFault(value: unknown): value is Fault {
  return isObject(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string';
}

/** Rewrites all strings of a tree, including keys; returns the same tree if none changed. */
export function scrubMembers<Value>(value: Value, rewrite: (text: string) => string): Value {
  const changed = rewriteAny(value, rewrite, 0);
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

/** Copies nothing before the first change, since most records have none. */
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

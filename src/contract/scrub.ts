import { type Fault, RuntimeError } from '../errors.ts';
import { isObject, Json } from '../json/json.ts';

/** Takes out of texts what nobody may read there. */
export interface Scrubber {
  /** A text about something: known values, and what follows the names of credentials. */
  text(text: string): string;
  /** A text that is data: known values alone. The very text when there is none in it. */
  values(text: string): string;
  /** As `text`, for a text that comes in pieces. */
  stream(): ScrubStream;
  /** Looks for these values too from now on. */
  add(secrets: Iterable<string>): void;
}

export interface ScrubStream {
  /** What can be shown by now: whole lines, as a rule. */
  push(text: string): string;
  /** What is held back now, were this the end. Changes nothing. */
  rest(): string;
}

/** Where nobody knows of a secret, such as in a test of a part. */
export const noScrub: Scrubber = {
  text: (text) => text,
  values: (text) => text,
  stream: () => ({ push: (text) => text, rest: () => '' }),
  add: () => {},
};

/** The error with its words and details scrubbed; the very error when there was nothing to hide. */
export function scrubError(error: RuntimeError, scrubber: Scrubber): RuntimeError {
  const { code, message, hint, details } = error;
  const clean = scrubFault({ code, message, hint, details }, scrubber);
  if (clean.message === message && clean.hint === hint && clean.details === details) return error;
  // Without its cause, whose words are the same.
  const scrubbed = new RuntimeError(code, clean.message, { hint: clean.hint, details: clean.details });
  const stack = error.stack;
  if (stack !== undefined) scrubbed.stack = scrubber.text(stack);
  return scrubbed;
}

/** The fault with its words and details scrubbed. */
export function scrubFault(fault: Fault, scrubber: Scrubber): Fault {
  const { code, message, hint, details } = fault;
  const clean = details === undefined ? undefined : scrubMembers(details, (text) => scrubber.text(text));
  const words = [scrubber.text(message), scrubber.text(hint)];
  if (clean === details && words[0] === message && words[1] === hint) return fault;
  return {
    code,
    message: scrubber.text(message),
    hint: scrubber.text(hint),
    ...(clean !== undefined && { details: clean }),
  };
}

/** What is said about an outcome, an answer or a document; the rest of it is data and stays exactly as it is. */
export function scrubSaid<Value extends object>(value: Value, scrubber: Scrubber): Value {
  const said = Object.entries(value).map(([key, member]: [string, unknown]) => {
    if (key === 'error' && isFault(member)) return [key, scrubFault(member, scrubber)];
    return [key, words.has(key) && typeof member === 'string' ? scrubber.text(member) : member];
  });
  const changed = said.filter(([key, member]) => Reflect.get(value, String(key)) !== member);
  // A document knows the exact text of its parts, and a copy of it does not.
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

/** What is said in the first as it is said in the second, wherever both say something. */
export function saidAs<Value extends object>(value: Value, other: object): Value {
  const said = Object.entries(value).map(([key, member]: [string, unknown]) => {
    const instead: unknown = Reflect.get(other, key);
    const areWords = words.has(key) && typeof member === 'string' && typeof instead === 'string';
    const areFaults = key === 'error' && isFault(member) && isFault(instead);
    return [key, areWords || areFaults ? instead : member];
  });
  return { ...value, ...Object.fromEntries(said) };
}

/** Members that are about something. */
const words: ReadonlySet<string> = new Set(['reason', 'detail', 'message', 'stderr']);

function isFault(value: unknown): value is Fault {
  return isObject(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string';
}

/** A tree with its strings, keys included, rewritten; the very tree when none of them changed. */
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
  if (Array.isArray(value)) {
    const elements = value.map((element) => rewriteAny(element, rewrite, depth + 1));
    return elements.every((element, index) => element === value[index]) ? value : elements;
  }
  const members = Object.entries(value);
  const changed = members.map(
    ([key, member]) => [rewrite(key), rewriteAny(member, rewrite, depth + 1)] as const,
  );
  const isSame = changed.every(
    ([key, member], index) => key === members[index]?.[0] && member === members[index]?.[1],
  );
  return isSame ? value : Object.fromEntries(changed);
}

const DEEPEST = 64;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

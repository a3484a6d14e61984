import { isObject } from '../json/json.ts';
import { type Rewriting, rewriteTree } from './rewrite.ts';
import { type JsonObject, requireObject } from './shape.ts';

/** Names under which an object has what must stay as it is: identifiers, types, times, figures, bytes, addresses. */
export type KeptNames = ReadonlySet<string>;

/** The key of a message's `meta` that says which conversation it belongs to; the filter's own. */
export const markKey = 'signalbox_pii';

/**
 * The message with all its members rewritten but those that are `known` to the caller, whatever their names; the
 * very message that was given when nothing had to be changed.
 */
export function rewriteMembers(message: JsonObject, known: readonly string[], said: Rewriting): JsonObject {
  const listed = Object.entries(keptWithin).filter(([name]) => Object.hasOwn(message, name));
  const own = listed.map(([name, kept]) => [name, rewriteEntries(message[name], kept, said)] as const);
  const isSame = own.every(([name, value]) => value === message[name]);
  const given = isSame ? message : { ...message, ...Object.fromEntries(own) };
  const others = [...known, ...Object.keys(keptWithin)];
  return rewriteOthers(given, { kept: keptOfMessage, others: new Set(others) }, said);
}

const keptOfMessage: KeptNames = new Set(['role', 'id', 'finish_reason', 'timestamp', 'latency_ms']);

const ofSource: KeptNames = new Set(['id', 'type', 'mime_type']);

/** What stays in the objects of these members of a message. */
const keptWithin: Readonly<Record<string, KeptNames>> = {
  tool_results: new Set(['id', 'name']),
  tool_approval: new Set(['id']),
  sources: ofSource,
  citations: ofSource,
  validations: new Set(['validator_type', 'timestamp']),
  cost_info: new Set(['input_tokens', 'output_tokens', 'cached_tokens']),
  meta: new Set([markKey]),
};

/** Rewrites an object, or every object of a list, but for what is kept; anything else as a whole. */
export function rewriteEntries(value: unknown, kept: KeptNames, said: Rewriting): unknown {
  if (Array.isArray(value)) {
    const changed = value.map((entry: unknown) => rewriteEntry(entry, kept, said));
    return changed.every((entry, index) => entry === value[index]) ? value : changed;
  }
  return rewriteEntry(value, kept, said);
}

function rewriteEntry(value: unknown, kept: KeptNames, said: Rewriting): unknown {
  if (!isObject(value) || JSON.isRawJSON(value)) return rewriteTree(value, said);
  return rewriteOthers(value, { kept, others: new Set() }, said);
}

export interface LeftAlone {
  /** Stay when they are scalars; what hides a tree under such a name is rewritten. */
  readonly kept: KeptNames;
  /** Are the caller's to rewrite. */
  readonly others: ReadonlySet<string>;
}

/** Rewrites names and values of all other members; the very object when nothing had to be changed. */
export function rewriteOthers(object: JsonObject, { kept, others }: LeftAlone, said: Rewriting): JsonObject {
  const isLeft = ([name, value]: readonly [string, unknown]) =>
    others.has(name) || (kept.has(name) && isScalar(value));
  const members = Object.entries(object);
  const rest = Object.fromEntries(members.filter((member) => !isLeft(member)));
  if (Object.keys(rest).length === 0) return object;
  const changed = rewriteTree(rest, said);
  // What is left goes last: no name that a pseudonym stood for may take its place.
  return changed === rest
    ? object
    : { ...requireObject(changed, 'an object'), ...Object.fromEntries(members.filter(isLeft)) };
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || JSON.isRawJSON(value);
}

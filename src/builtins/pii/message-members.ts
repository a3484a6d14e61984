import { isObject } from '../../base/json/json.ts';
import { type JsonObject, requireObject } from './payload.ts';
import { type RewriteOptions, rewriteTree } from './text-rewrite.ts';

/** Members that are not rewritten: identifiers, types, times, figures, bytes, addresses. */
export type KeptMemberNames = ReadonlySet<string>;

/** The key in a message's `meta` for the mark of its conversation; only this filter uses it. */
export const markKey = 'signalbox_pii';

/** Rewrites all members except those in `known`. Returns the same object if nothing changes. */
export function rewriteMembers(
  message: JsonObject,
  known: readonly string[],
  rewriting: RewriteOptions,
): JsonObject {
  const listed = Object.entries(keptNamesByMember).filter(([name]) => Object.hasOwn(message, name));
  const own = listed.map(([name, kept]) => [name, rewriteEntries(message[name], kept, rewriting)] as const);
  const isSame = own.every(([name, value]) => value === message[name]);
  const given = isSame ? message : { ...message, ...Object.fromEntries(own) };
  const others = [...known, ...Object.keys(keptNamesByMember)];
  return rewriteOthers(given, { kept: keptOfMessage, others: new Set(others) }, rewriting);
}

const keptOfMessage: KeptMemberNames = new Set(['role', 'id', 'finish_reason', 'timestamp', 'latency_ms']);

const ofSource: KeptMemberNames = new Set(['id', 'type', 'mime_type']);

const keptNamesByMember: Readonly<Record<string, KeptMemberNames>> = {
  tool_results: new Set(['id', 'name']),
  tool_approval: new Set(['id']),
  sources: ofSource,
  citations: ofSource,
  validations: new Set(['validator_type', 'timestamp']),
  cost_info: new Set(['input_tokens', 'output_tokens', 'cached_tokens']),
  meta: new Set([markKey]),
};

/** Rewrites an object or each object of a list except its kept members, and other values completely. */
export function rewriteEntries(value: unknown, kept: KeptMemberNames, rewriting: RewriteOptions): unknown {
  if (Array.isArray(value)) {
    const changed = value.map((entry: unknown) => rewriteEntry(entry, kept, rewriting));
    return changed.every((entry, index) => entry === value[index]) ? value : changed;
  }
  return rewriteEntry(value, kept, rewriting);
}

function rewriteEntry(value: unknown, kept: KeptMemberNames, rewriting: RewriteOptions): unknown {
  if (!isObject(value) || JSON.isRawJSON(value)) return rewriteTree(value, rewriting);
  return rewriteOthers(value, { kept, others: new Set() }, rewriting);
}

export interface SkippedMembers {
  /** Kept only if scalar; objects and lists under these names are rewritten. */
  readonly kept: KeptMemberNames;
  readonly others: ReadonlySet<string>;
}

/** Rewrites the names and values of all other members. Returns the same object if nothing changes. */
export function rewriteOthers(
  object: JsonObject,
  { kept, others }: SkippedMembers,
  rewriting: RewriteOptions,
): JsonObject {
  const isSkipped = ([name, value]: readonly [string, unknown]) =>
    others.has(name) || (kept.has(name) && isScalar(value));
  const members = Object.entries(object);
  const rest = Object.fromEntries(members.filter((member) => !isSkipped(member)));
  if (Object.keys(rest).length === 0) return object;
  const changed = rewriteTree(rest, rewriting);
  // Skipped members go last, so that a restored name cannot replace one of them.
  return changed === rest
    ? object
    : { ...requireObject(changed, 'an object'), ...Object.fromEntries(members.filter(isSkipped)) };
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || JSON.isRawJSON(value);
}

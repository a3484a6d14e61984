import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, Json, keepExactForm, parseLossless } from '../../base/json/json.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import { shorten } from '../../base/text/phrases.ts';
import type { DecisionDocument } from '../../contract/document.ts';
import { nextCallId } from '../../contract/tool.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { protocolMeta } from './channels.ts';
import { childrenOf, type Part, splice, textOf, withMember } from './edit.ts';

/** A text as the hooks left it, or why it does not pass. */
export type Judged = { readonly text: string } | { readonly denied: string };

/** A message as a call of a tool: `name` is `SERVER__METHOD`. */
export interface JudgedCall {
  readonly name: string;
  readonly args?: unknown;
}

/**
 * Judges what goes to an upstream: an object, as the arguments of a call. For a request of a client, approvals hold,
 * too: after the decision, the same request passes once.
 */
export async function judgeOutgoing(
  { agents }: Pick<Runtime, 'agents'>,
  { name, principal }: JudgedCall & { readonly principal?: string },
  text: string,
  signal?: AbortSignal,
): Promise<Judged> {
  const meta = textOf(text, '_meta');
  const [shown, kept] = meta === undefined ? [text, undefined] : withoutProtocol(text, meta);
  const request = { name, args: exact(shown), call_id: nextCallId(), category: 'mcp' };
  const caller = principal === undefined ? undefined : { agent: 'mcp', session: principal, cwd: '' };
  const decision = await agents.judge(
    { hook: 'tool', phase: 'before_execution', request, caller },
    { signal },
  );
  if (decision.verdict === 'allow') return { text };
  const denied = whyDenied(decision);
  if (denied !== undefined) return { denied };
  const renamed = decision.replace?.['name'];
  if (renamed !== undefined && renamed !== name) return { denied: `a hook renamed the call to ${renamed}` };
  const args = decision.replace?.['args'];
  if (args === undefined) return { text };
  const changed = Json.from(args).text;
  if (isSame(shown, changed)) return { text };
  if (!changed.startsWith('{')) return { denied: 'a hook changed the form of the message' };
  return { text: kept === undefined ? changed : withProtocol(changed, kept) };
}

function withoutProtocol(text: string, meta: string): [string, string | undefined] {
  const members = [...exactMembers(new Json(meta)).keys()];
  const own = members.filter((key) => protocolMeta.has(key));
  const kept = members
    .filter((key) => !protocolMeta.has(key))
    .reduce((rest, key) => withMember(rest, key, undefined), meta);
  const shown = own.reduce((rest, key) => withMember(rest, key, undefined), meta);
  return [
    withMember(text, '_meta', own.length === members.length ? undefined : shown),
    own.length === 0 ? undefined : kept,
  ];
}

/** A hook cannot change the members that the protocol defines. */
function withProtocol(changed: string, kept: string): string {
  const given = textOf(changed, '_meta');
  const base = given?.startsWith('{') ? given : '{}';
  const meta = [...exactMembers(new Json(kept))].reduce(
    (all, [key, { text }]) => withMember(all, key, text),
    base,
  );
  return withMember(changed, '_meta', meta);
}

function exact(text: string): unknown {
  const value = parseLossless(text);
  if (isObject(value)) keepExactForm(value, new Json(text));
  return value;
}

/**
 * Judges what comes from an upstream, as the result of a call: each block of content, and each content of a resource,
 * as in a tool result; everything else as one JSON text.
 */
export async function judgeIncoming(
  { hooks }: Pick<Runtime, 'hooks'>,
  { name, args = {} }: JudgedCall,
  text: string,
  { isError = false, signal }: { readonly isError?: boolean; readonly signal?: AbortSignal | undefined } = {},
): Promise<Judged> {
  const blocks = findBlocks(text);
  const rest = splice(
    text,
    blocks.map((block) => ({ ...block, text: 'null' })),
  );
  const call_id = nextCallId();
  const shown = blocks.map(({ start, end, isResource }) => {
    const block = text.slice(start, end);
    return new Json(isResource ? `{"type":"resource","resource":${block}}` : block);
  });
  const decision = await hooks.fire(
    {
      ...{ hook: 'tool', phase: 'after_execution' },
      request: { name, args, call_id, category: 'mcp' },
      response: { name, call_id, content: shown, structuredContent: new Json(rest), isError },
    },
    { signal },
  );
  if (decision.verdict === 'allow') return { text };
  const denied = whyDenied(decision);
  if (denied !== undefined) return { denied };
  if (decision.replace === null) return { text };
  const replaced = exactMembers(Json.from(decision.replace));
  const contents = elementsOf(replaced.get('content') ?? new Json('[]'));
  const edits = blocks.map((block, index) => {
    const content = contents[index]?.text ?? 'null';
    const after = block.isResource ? (textOf(content, 'resource') ?? 'null') : content;
    const before = text.slice(block.start, block.end);
    return { ...block, text: isSame(before, after) ? before : after };
  });
  const newRest = replaced.get('structuredContent')?.text ?? 'null';
  if (isSame(rest, newRest)) return { text: splice(text, edits) };
  return putBack(newRest, edits) ?? { denied: 'a hook changed the form of the message' };
}

/** A hook that writes a text as it was has not changed its bytes. */
function isSame(before: string, after: string): boolean {
  return isSameToTheDigit(parseLossless(before), parseLossless(after));
}

type Block = Part & { readonly path: readonly (string | number)[]; readonly isResource: boolean };

/** Blocks stand near the top of a message; deeper ones are judged as JSON. */
const MOST_LEVELS = 8;
const kinds: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

function findBlocks(text: string): Block[] {
  const find = (part: Part, path: Block['path']): Block[] => {
    const children = childrenOf(text, part);
    const member = (key: string) => {
      const found = children.find((child) => child.key === key);
      return found && tryString(text.slice(found.start, found.end));
    };
    const isResource = member('uri') !== undefined && (member('text') ?? member('blob')) !== undefined;
    if (text[part.start] === '{' && (isResource || kinds.has(member('type')))) {
      return [{ ...part, path, isResource }];
    }
    if (path.length >= MOST_LEVELS) return [];
    return children.flatMap((child) => find(child, [...path, child.key]));
  };
  return find({ start: 0, end: text.length }, []);
}

function tryString(text: string): string | undefined {
  return text.startsWith('"') ? String(JSON.parse(text)) : undefined;
}

function putBack(rest: string, edits: readonly (Block & { readonly text: string })[]): Judged | undefined {
  const places = edits.map(({ path, text }) => {
    let part: Part | undefined = { start: 0, end: rest.length };
    for (const key of path) {
      part = part && childrenOf(rest, part).find((child) => child.key === key);
    }
    return part && rest.slice(part.start, part.end) === 'null'
      ? { start: part.start, end: part.end, text }
      : undefined;
  });
  const found = places.filter((place) => place !== undefined);
  return found.length === places.length ? { text: splice(rest, found) } : undefined;
}

/** Undefined if the message passes. Hooks can ask a person about calls of tools only. */
function whyDenied({ verdict, hook, reason }: DecisionDocument): string | undefined {
  if (verdict === 'allow' || verdict === 'modify') return undefined;
  if (hook === null) return reason;
  const why = verdict === 'ask' ? 'it needs a person, who can decide about calls of tools only' : reason;
  return `blocked by hook "${hook}": ${shorten(why, 1_000)}`;
}

import { applyEdits, applyToParts, type Edit } from './edit.ts';
import { type KeptMemberNames, rewriteEntries, rewriteMembers, rewriteOthers } from './message-members.ts';
import { type JsonObject, requireList, requireObject, requireText } from './payload.ts';
import { editText, type RewriteOptions, rewriteTree } from './text-rewrite.ts';

export interface MessageRewriteOptions {
  readonly texts: RewriteOptions;
  readonly args: RewriteOptions;
}

/**
 * Rewrites all texts of a message, including unknown members. Returns the same object if nothing changes. Throws
 * EVENT_INVALID for an unknown shape, whose texts would be missed.
 */
export function rewriteMessage(message: unknown, { texts: said, args }: MessageRewriteOptions): JsonObject {
  const given = requireObject(message, 'a message');
  const texts = rewriteTexts(given, said);
  const calls = rewriteCalls(given['tool_calls'], { texts: said, args });
  const changes = { ...texts, ...(calls !== given['tool_calls'] && { tool_calls: calls }) };
  const isChanged = Object.keys(changes).length > 0;
  return rewriteMembers(isChanged ? { ...given, ...changes } : given, ownMembers, said);
}

const ownMembers = ['content', 'parts', 'reasoning', 'tool_calls', 'tool_result'];

function rewriteTexts(message: JsonObject, rewriting: RewriteOptions): JsonObject {
  const content = requireText(message['content'], 'content');
  const edits = editText(content, rewriting);
  const copy: ContentEdits = { content, edits, rewriting };
  const parts = rewriteParts(message['parts'], copy);
  const result = rewriteResult(message['tool_result'], copy);
  const reasoning = rewriteString(message['reasoning'], rewriting);
  return {
    // An edit in the content may have removed line breaks that join the parts.
    ...(edits.length > 0 && {
      content: parts?.joined ?? result?.joined ?? applyEdits(content, edits),
    }),
    ...(parts && { parts: parts.list }),
    ...(reasoning !== undefined && { reasoning }),
    ...(result && { tool_result: result.changed }),
  };
}

interface ContentEdits {
  readonly content: string;
  readonly edits: readonly Edit[];
  readonly rewriting: RewriteOptions;
}

interface RewrittenParts {
  readonly list: readonly unknown[];
  readonly joined: string | undefined;
}

/** The text of the parts changes with the content that they repeat. Undefined if nothing changes. */
function rewriteResult(result: unknown, copy: ContentEdits) {
  if (result === undefined || result === null) return undefined;
  const given = requireObject(result, 'tool_result');
  const parts = rewriteParts(given['parts'], copy);
  const error = rewriteString(given['error'], copy.rewriting);
  const own = { ...(parts && { parts: parts.list }), ...(error !== undefined && { error }) };
  const texts = Object.keys(own).length === 0 ? given : { ...given, ...own };
  const changed = rewriteOthers(texts, { kept: keptOfResult, others: textsOfResult }, copy.rewriting);
  return changed === given ? undefined : { changed, joined: parts?.joined };
}

const keptOfResult: KeptMemberNames = new Set(['id', 'name', 'error_type', 'latency_ms']);
const textsOfResult: KeptMemberNames = new Set(['parts', 'error']);

/** Parts that repeat the content get its edits. Undefined if nothing changes. */
function rewriteParts(
  parts: unknown,
  { content, edits, rewriting }: ContentEdits,
): RewrittenParts | undefined {
  const given = requireList(parts, 'parts').map((part) => requireObject(part, 'a part'));
  const texts = given.flatMap((part) => textOf(part) ?? []);
  const separator = ['', '\n'].find((candidate) => texts.join(candidate) === content);
  const own = separator === undefined ? editText(texts.join('\n'), rewriting) : edits;
  const changed = applyToParts(texts, separator ?? '\n', own);
  let next = 0;
  const list = given.map((part) => {
    const isText = textOf(part) !== undefined;
    return rewritePart(isText ? withText(part, changed[next++]) : part, rewriting);
  });
  if (list.every((part, index) => part === given[index])) return undefined;
  return { list, joined: separator === undefined ? undefined : changed.join(separator) };
}

function withText(part: JsonObject, text: string | undefined): JsonObject {
  return part['text'] === text ? part : { ...part, text };
}

function rewritePart(part: JsonObject, rewriting: RewriteOptions): JsonObject {
  const media = rewriteEntries(part['media'], keptOfMedia, rewriting);
  const given = media === part['media'] ? part : { ...part, media };
  return rewriteOthers(given, { kept: keptOfPart, others: ownOfPart }, rewriting);
}

const keptOfPart: KeptMemberNames = new Set(['type']);
const ownOfPart: KeptMemberNames = new Set(['text', 'media']);

/** Changing bytes or their address would break the file. */
const keptOfMedia: KeptMemberNames = new Set([
  'mime_type',
  'data',
  'sha256',
  'size_bytes',
  'url',
  'url_chars',
  'file_path',
  'storage_reference',
]);

function textOf({ text }: JsonObject): string | undefined {
  return text === undefined || text === null ? undefined : requireText(text, 'text');
}

function rewriteString(text: unknown, rewriting: RewriteOptions): string | undefined {
  const given = requireText(text, 'a text');
  const edits = editText(given, rewriting);
  return edits.length === 0 ? undefined : applyEdits(given, edits);
}

function rewriteCalls(calls: unknown, rewriting: MessageRewriteOptions): unknown {
  const given = requireList(calls, 'tool_calls');
  const changed = given.map((call) => rewriteCall(requireObject(call, 'a tool call'), rewriting));
  return changed.every((call, index) => call === given[index]) ? calls : changed;
}

function rewriteCall(call: JsonObject, { texts, args }: MessageRewriteOptions): JsonObject {
  const changed = rewriteTree(call['args'], args);
  const given = changed === call['args'] ? call : { ...call, args: changed };
  return rewriteOthers(given, { kept: keptOfCall, others: ownOfCall }, texts);
}

const keptOfCall: KeptMemberNames = new Set(['id', 'name']);
const ownOfCall: KeptMemberNames = new Set(['args']);

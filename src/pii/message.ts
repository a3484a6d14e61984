import { applyEdits, applyToParts, type Edit } from './edit.ts';
import { type KeptNames, rewriteEntries, rewriteMembers, rewriteOthers } from './members.ts';
import { editText, type Rewriting, rewriteTree } from './rewrite.ts';
import { type JsonObject, requireList, requireObject, requireText } from './shape.ts';

/** How the texts of a message are rewritten: what is said, and what a model wants tools to be called with. */
export interface MessageRewriting {
  readonly said: Rewriting;
  readonly args: Rewriting;
}

/**
 * The message with all its texts rewritten: `content`, the parts that repeat it, reasoning, tool calls, the tool
 * result, and every other member, known or not. The very message that was given when nothing had to be changed.
 * Throws EVENT_INVALID when it has a shape in which texts could hide.
 */
export function rewriteMessage(message: unknown, { said, args }: MessageRewriting): JsonObject {
  const given = requireObject(message, 'a message');
  const texts = rewriteTexts(given, said);
  const calls = rewriteCalls(given['tool_calls'], { said, args });
  const changes = { ...texts, ...(calls !== given['tool_calls'] && { tool_calls: calls }) };
  const isChanged = Object.keys(changes).length > 0;
  return rewriteMembers(isChanged ? { ...given, ...changes } : given, ownMembers, said);
}

/** What is rewritten here, and not as one of the other members. */
const ownMembers = ['content', 'parts', 'reasoning', 'tool_calls', 'tool_result'];

/** The members of the message that hold text and had to be changed. */
function rewriteTexts(message: JsonObject, said: Rewriting): JsonObject {
  const content = requireText(message['content'], 'content');
  const edits = editText(content, said);
  const copy: Copy = { content, edits, said };
  const parts = rewriteParts(message['parts'], copy);
  const result = rewriteResult(message['tool_result'], copy);
  const reasoning = rewriteString(message['reasoning'], said);
  return {
    // The parts may be joined by line breaks that an edit has swallowed in the content.
    ...(edits.length > 0 && {
      content: parts?.joined ?? result?.joined ?? applyEdits(content, edits),
    }),
    ...(parts && { parts: parts.list }),
    ...(reasoning !== undefined && { reasoning }),
    ...(result && { tool_result: result.changed }),
  };
}

interface Copy {
  readonly content: string;
  readonly edits: readonly Edit[];
  readonly said: Rewriting;
}

interface RewrittenParts {
  readonly list: readonly unknown[];
  /** The whole text of the parts, when they repeat the content. */
  readonly joined: string | undefined;
}

/** The result of a tool, with the text of its parts when they repeat the content. Undefined when nothing changes. */
function rewriteResult(result: unknown, copy: Copy) {
  if (result === undefined || result === null) return undefined;
  const given = requireObject(result, 'tool_result');
  const parts = rewriteParts(given['parts'], copy);
  const error = rewriteString(given['error'], copy.said);
  const own = { ...(parts && { parts: parts.list }), ...(error !== undefined && { error }) };
  const texts = Object.keys(own).length === 0 ? given : { ...given, ...own };
  const changed = rewriteOthers(texts, { kept: keptOfResult, others: textsOfResult }, copy.said);
  return changed === given ? undefined : { changed, joined: parts?.joined };
}

const keptOfResult: KeptNames = new Set(['id', 'name', 'error_type', 'latency_ms']);
const textsOfResult: KeptNames = new Set(['parts', 'error']);

/** Parts that repeat the content get its edits; others their own. Undefined when nothing changes. */
function rewriteParts(parts: unknown, { content, edits, said }: Copy): RewrittenParts | undefined {
  const given = requireList(parts, 'parts').map((part) => requireObject(part, 'a part'));
  const texts = given.flatMap((part) => textOf(part) ?? []);
  const joint = ['', '\n'].find((candidate) => texts.join(candidate) === content);
  const own = joint === undefined ? editText(texts.join('\n'), said) : edits;
  const changed = applyToParts(texts, joint ?? '\n', own);
  let next = 0;
  const list = given.map((part) => {
    const isText = textOf(part) !== undefined;
    return rewritePart(isText ? withText(part, changed[next++]) : part, said);
  });
  if (list.every((part, index) => part === given[index])) return undefined;
  return { list, joined: joint === undefined ? undefined : changed.join(joint) };
}

function withText(part: JsonObject, text: string | undefined): JsonObject {
  return part['text'] === text ? part : { ...part, text };
}

/** What a part has beside its text: the name of its file, and members that nobody knows. */
function rewritePart(part: JsonObject, said: Rewriting): JsonObject {
  const media = rewriteEntries(part['media'], keptOfMedia, said);
  const given = media === part['media'] ? part : { ...part, media };
  return rewriteOthers(given, { kept: keptOfPart, others: ownOfPart }, said);
}

const keptOfPart: KeptNames = new Set(['type']);
const ownOfPart: KeptNames = new Set(['text', 'media']);

/** Bytes and where they are: changed, they would be another file, or none. */
const keptOfMedia: KeptNames = new Set([
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

function rewriteString(text: unknown, said: Rewriting): string | undefined {
  const given = requireText(text, 'a text');
  const edits = editText(given, said);
  return edits.length === 0 ? undefined : applyEdits(given, edits);
}

function rewriteCalls(calls: unknown, rewriting: MessageRewriting): unknown {
  const given = requireList(calls, 'tool_calls');
  const changed = given.map((call) => rewriteCall(requireObject(call, 'a tool call'), rewriting));
  return changed.every((call, index) => call === given[index]) ? calls : changed;
}

function rewriteCall(call: JsonObject, { said, args }: MessageRewriting): JsonObject {
  const changed = rewriteTree(call['args'], args);
  const given = changed === call['args'] ? call : { ...call, args: changed };
  return rewriteOthers(given, { kept: keptOfCall, others: ownOfCall }, said);
}

const keptOfCall: KeptNames = new Set(['id', 'name']);
const ownOfCall: KeptNames = new Set(['args']);

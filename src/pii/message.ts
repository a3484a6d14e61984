import { parseLossless, stringifyJson } from '../json.ts';
import { applyEdits, applyToParts, type Edit } from './edit.ts';
import { editJson, editText, type Rewriting } from './rewrite.ts';
import { type JsonObject, requireList, requireObject, requireText } from './shape.ts';

/** How the texts of a message are rewritten: what is said, and what a model wants tools to be called with. */
export interface MessageRewriting {
  readonly said: Rewriting;
  readonly args: Rewriting;
}

/**
 * The message with all its texts rewritten: `content`, the parts that repeat it, reasoning, tool calls and tool
 * results. The very message that was given when nothing had to be changed. Throws EVENT_INVALID when it has a
 * shape in which texts could hide.
 */
export function rewriteMessage(message: unknown, { said, args }: MessageRewriting): JsonObject {
  const given = requireObject(message, 'a message');
  const texts = rewriteTexts(given, said);
  const calls = rewriteCalls(given['tool_calls'], args);
  const changes = { ...texts, ...(calls !== given['tool_calls'] && { tool_calls: calls }) };
  return Object.keys(changes).length === 0 ? given : { ...given, ...changes };
}

/** The members of the message that hold text and had to be changed. */
function rewriteTexts(message: JsonObject, said: Rewriting): JsonObject {
  const content = requireText(message['content'], 'content');
  const result = message['tool_result'] ?? undefined;
  const resultObject = result === undefined ? undefined : requireObject(result, 'tool_result');
  const edits = editText(content, said);
  const parts = rewriteParts(message['parts'], { content, edits, said });
  const resultParts = rewriteParts(resultObject?.['parts'], { content, edits, said });
  const error = rewriteString(resultObject?.['error'], said);
  const reasoning = rewriteString(message['reasoning'], said);
  const isResultChanged = resultParts !== undefined || error !== undefined;
  return {
    // The parts may be joined by line breaks that an edit has swallowed in the content.
    ...(edits.length > 0 && {
      content: parts?.joined ?? resultParts?.joined ?? applyEdits(content, edits),
    }),
    ...(parts && { parts: parts.list }),
    ...(reasoning !== undefined && { reasoning }),
    ...(isResultChanged && {
      tool_result: {
        ...resultObject,
        ...(resultParts && { parts: resultParts.list }),
        ...(error !== undefined && { error }),
      },
    }),
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

/** Parts that repeat the content get its edits; others their own. Undefined when nothing changes. */
function rewriteParts(parts: unknown, { content, edits, said }: Copy): RewrittenParts | undefined {
  const given = requireList(parts, 'parts');
  const texts = given.flatMap((part) => textOf(part) ?? []);
  const joint = ['', '\n'].find((candidate) => texts.join(candidate) === content);
  const own = joint === undefined ? editText(texts.join('\n'), said) : edits;
  if (own.length === 0) return undefined;
  const changed = applyToParts(texts, joint ?? '\n', own);
  let next = 0;
  const list = given.map((part) =>
    textOf(part) === undefined ? part : { ...requireObject(part, 'a part'), text: changed[next++] },
  );
  return { list, joined: joint === undefined ? undefined : changed.join(joint) };
}

function textOf(part: unknown): string | undefined {
  const { text } = requireObject(part, 'a part');
  return text === undefined || text === null ? undefined : requireText(text, 'text');
}

function rewriteString(text: unknown, said: Rewriting): string | undefined {
  const given = requireText(text, 'a text');
  const edits = editText(given, said);
  return edits.length === 0 ? undefined : applyEdits(given, edits);
}

function rewriteCalls(calls: unknown, args: Rewriting): unknown {
  const given = requireList(calls, 'tool_calls');
  const changed = given.map((call) => rewriteCall(requireObject(call, 'a tool call'), args));
  return changed.every((call, index) => call === given[index]) ? calls : changed;
}

function rewriteCall(call: JsonObject, args: Rewriting): JsonObject {
  const changed = rewriteArgs(call['args'], args);
  return changed === call['args'] ? call : { ...call, args: changed };
}

/** Arguments with their strings rewritten; what is not changed keeps its digits. */
export function rewriteArgs(args: unknown, rewriting: Rewriting): unknown {
  if (args === undefined || args === null) return args;
  const isText = typeof args === 'string';
  const text = isText ? args : stringifyJson(args);
  const edits = isText ? editText(text, rewriting) : editJson(text, rewriting);
  if (edits.length === 0) return args;
  const changed = applyEdits(text, edits);
  return isText ? changed : parseLossless(changed);
}

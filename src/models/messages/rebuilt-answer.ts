import type {
  LanguageModelV4Content,
  LanguageModelV4Source,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
} from '@ai-sdk/provider';
import { isJSONValue } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/try-parse.ts';
import {
  describeAnswer,
  describeAnswerToolCall,
  describeSource,
  describeToolResult,
} from './answer-description.ts';
import type { BodyPart } from './message-description.ts';
import { layOutParts, matchParts, type PartMatcher, type Replacement } from './part-layout.ts';
import { readCalls, rebuildReasoning, type ToolCallMember } from './rebuilt-assistant.ts';
import { createFileFinder, type PlainObject, rebuildBody } from './rebuilt-body.ts';
import { keepSeenMembers } from './seen-content.ts';

type Content = LanguageModelV4Content;

/**
 * The answer content of a replaced message, in the order of the old content. Provider-private parts are left
 * out: no hook has seen them, and they may hold what was replaced. Of metadata, textless members stay. Throws
 * REPLY_MALFORMED.
 */
export function rebuildAnswer(message: PlainObject, old: readonly Content[]): Content[] {
  const oldBody = old.filter((part) => part.type === 'text' || part.type === 'file');
  const files = oldBody.filter((part) => part.type === 'file');
  const findFile = createFileFinder(() => files);
  const parts = rebuildBody(message, { body: oldBody, findFile, keepsOptions: false });
  const body = parts.map((part) => oldBody.find((candidate) => candidate === part) ?? toContent(part));
  const oldReasoning = old.filter((part) => part.type === 'reasoning');
  const reasoning = rebuildReasoning(message['reasoning'], oldReasoning);
  const calls = matchParts(readCalls(message['tool_calls']), ofType(old, 'tool-call'), callMatching);
  const results = matchParts(
    readEntries(message, 'tool_results'),
    ofType(old, 'tool-result'),
    resultMatching,
  );
  const sources = matchParts(readEntries(message, 'sources'), ofType(old, 'source'), sourceMatching);
  const content = layOutParts<Content>(old, {
    body: { old: oldBody, parts: body },
    reasoning: { old: oldReasoning, parts: reasoning },
    kept: [...calls.kept, ...results.kept, ...sources.kept, ...keepApprovals(old, calls.kept)],
    added: calls.added,
  });
  const isCitedSame = isSameToTheDigit(message['citations'] ?? [], describeAnswer(old)['citations'] ?? []);
  return content.map((part) => keepSeenMembers(part, isCitedSame));
}

function ofType<Type extends Content['type']>(content: readonly Content[], type: Type) {
  return content.filter((part): part is Extract<Content, { type: Type }> => part.type === type);
}

/** An answer carries files as bytes or by address. */
function toContent(part: BodyPart): Content {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { data, mediaType } = part;
  if (data.type === 'data' || data.type === 'url') return { type: 'file', mediaType, data };
  if (data.type === 'text') {
    return {
      type: 'file',
      mediaType,
      data: { type: 'data', data: Buffer.from(data.text).toString('base64') },
    };
  }
  throw new RuntimeError('REPLY_MALFORMED', 'a file of a replaced message has neither data nor a url');
}

const callMatching: PartMatcher<ToolCallMember, LanguageModelV4ToolCall> = {
  matches: ({ toolCallId }, { id }) => toolCallId === id,
  change: (part, call) => {
    if (isSameToTheDigit(describeAnswerToolCall(part), call)) return part;
    const { providerMetadata: _, ...rest } = part;
    return { ...rest, ...callMatching.add(call) };
  },
  add: ({ id, name, args }) => {
    if (isObject(args))
      return { type: 'tool-call', toolCallId: id, toolName: name, input: stringifyJson(args) };
    throw new RuntimeError('REPLY_MALFORMED', 'the `args` of a replaced tool call are not an object');
  },
};

const resultMatching: PartMatcher<PlainObject, LanguageModelV4ToolResult> = {
  matches: ({ toolCallId }, { id }) => toolCallId === id,
  change: (part, entry) => {
    if (isSameToTheDigit(describeToolResult(part), entry)) return part;
    const { providerMetadata: _, ...rest } = part;
    return { ...rest, result: toResult(entry['content'], part) };
  },
  add: () => throwMalformedEntry('tool_results', 'of a call that was not made'),
};

function toResult(content: unknown, { result }: LanguageModelV4ToolResult): NonNullable<typeof result> {
  if (typeof content !== 'string') return throwMalformedEntry('tool_results', 'without content');
  const value = typeof result === 'string' ? undefined : tryParseLossless(content);
  return value !== undefined && value !== null && isJSONValue(value) ? value : content;
}

const sourceMatching: PartMatcher<PlainObject, LanguageModelV4Source> = {
  matches: (part, { id }) => part.id === id,
  change: (part, entry) => (isSameToTheDigit(describeSource(part), entry) ? part : changeSource(part, entry)),
  add: () => throwMalformedEntry('sources', 'that was not there'),
};

function changeSource(
  part: LanguageModelV4Source,
  { url, title, filename }: PlainObject,
): LanguageModelV4Source {
  const { id, type } = part;
  const named = typeof title === 'string' ? { title } : {};
  if (part.sourceType === 'document') {
    const file = typeof filename === 'string' ? { filename } : {};
    return { type, sourceType: 'document', id, mediaType: part.mediaType, title: '', ...named, ...file };
  }
  if (typeof url !== 'string') return throwMalformedEntry('sources', 'without a url');
  return { type, sourceType: 'url', id, url, ...named };
}

function throwMalformedEntry(member: string, what: string): never {
  throw new RuntimeError('REPLY_MALFORMED', `the \`${member}\` of a replaced message have one ${what}`);
}

function readEntries(message: PlainObject, member: string): readonly PlainObject[] {
  const given = message[member] ?? [];
  if (Array.isArray(given) && given.every(isObject)) return given;
  throw new RuntimeError(
    'REPLY_MALFORMED',
    `the \`${member}\` of a replaced message are not a list of objects`,
  );
}

/** Approval requests are kept for the calls that are kept. */
function keepApprovals(
  old: readonly Content[],
  calls: readonly Replacement<LanguageModelV4ToolCall>[],
): Replacement<Content>[] {
  const ids = new Set(calls.map(([call]) => call.toolCallId));
  return ofType(old, 'tool-approval-request')
    .filter(({ toolCallId }) => ids.has(toolCallId))
    .map((request) => [request, [request]]);
}

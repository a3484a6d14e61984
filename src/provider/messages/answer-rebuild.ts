import type {
  LanguageModelV4Content,
  LanguageModelV4Source,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
} from '@ai-sdk/provider';
import { isJSONValue } from '@ai-sdk/provider';
import { RuntimeError } from '../../errors.ts';
import { isObject, stringifyJson } from '../../json/json.ts';
import { describeAnswer, describeSource, describeToolCall, describeToolResult } from './answer-describe.ts';
import { bareContent } from './bare-content.ts';
import type { BodyPart } from './describe.ts';
import { insertBehindReasoning, type Matching, matchParts, type Place, place } from './layout.ts';
import { readCalls, readReasoning, type ToolCallMember } from './rebuild-assistant.ts';
import { createFileFinder, type Plain, rebuildBody } from './rebuild-body.ts';
import { parseIfJson } from './rebuild-tool.ts';
import { isSame } from './same.ts';

type Content = LanguageModelV4Content;

/**
 * The content that a replaced message stands for, laid out as the old was. What only the provider understands
 * is left out: no hook has seen it, and it may hold what was replaced. Metadata stays as `keepMetadata` has it.
 */
export function rebuildAnswer(message: Plain, old: readonly Content[]): Content[] {
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
  const places = new Map<Content, readonly Content[]>([
    ...place<Content>(oldBody, body),
    ...place<Content>(oldReasoning, reasoning),
    ...calls.kept,
    ...results.kept,
    ...sources.kept,
    ...keepApprovals(old, calls.kept),
  ]);
  const laid = old.flatMap((part) => places.get(part) ?? []);
  const thoughts = oldReasoning.length === 0 ? reasoning : [];
  const words = oldBody.length === 0 ? body : [];
  const content = [...thoughts, ...insertBehindReasoning(laid, words), ...calls.added];
  const isCitedSame = isSame(message['citations'] ?? [], describeAnswer(old)['citations'] ?? []);
  return content.map((part) => bareContent(part, isCitedSame));
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

function rebuildReasoning(given: unknown, old: readonly Content[]): readonly Content[] {
  const text = readReasoning(given);
  if (text === old.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')) return old;
  return text === '' ? [] : [{ type: 'reasoning', text }];
}

const callMatching: Matching<ToolCallMember, LanguageModelV4ToolCall> = {
  isOf: ({ toolCallId }, { id }) => toolCallId === id,
  change: (part, call) => {
    if (isSame(describeToolCall(part), call)) return part;
    const { providerMetadata: _, ...rest } = part;
    return { ...rest, ...callMatching.add(call) };
  },
  add: ({ id, name, args }) => {
    if (isObject(args))
      return { type: 'tool-call', toolCallId: id, toolName: name, input: stringifyJson(args) };
    throw new RuntimeError('REPLY_MALFORMED', 'the `args` of a replaced tool call are not an object');
  },
};

const resultMatching: Matching<Plain, LanguageModelV4ToolResult> = {
  isOf: ({ toolCallId }, { id }) => toolCallId === id,
  change: (part, entry) => {
    if (isSame(describeToolResult(part), entry)) return part;
    const { providerMetadata: _, ...rest } = part;
    return { ...rest, result: toResult(entry['content'], part) };
  },
  add: () => refuse('tool_results', 'of a call that was not made'),
};

function toResult(content: unknown, { result }: LanguageModelV4ToolResult): NonNullable<typeof result> {
  if (typeof content !== 'string') return refuse('tool_results', 'without content');
  const value = typeof result === 'string' ? undefined : parseIfJson(content);
  return value !== undefined && value !== null && isJSONValue(value) ? value : content;
}

const sourceMatching: Matching<Plain, LanguageModelV4Source> = {
  isOf: (part, { id }) => part.id === id,
  change: (part, entry) => (isSame(describeSource(part), entry) ? part : changeSource(part, entry)),
  add: () => refuse('sources', 'that was not there'),
};

function changeSource(part: LanguageModelV4Source, { url, title, filename }: Plain): LanguageModelV4Source {
  const { id, type } = part;
  const named = typeof title === 'string' ? { title } : {};
  if (part.sourceType === 'document') {
    const file = typeof filename === 'string' ? { filename } : {};
    return { type, sourceType: 'document', id, mediaType: part.mediaType, title: '', ...named, ...file };
  }
  if (typeof url !== 'string') return refuse('sources', 'without a url');
  return { type, sourceType: 'url', id, url, ...named };
}

function refuse(member: string, what: string): never {
  throw new RuntimeError('REPLY_MALFORMED', `the \`${member}\` of a replaced message have one ${what}`);
}

function readEntries(message: Plain, member: string): readonly Plain[] {
  const given = message[member] ?? [];
  if (Array.isArray(given) && given.every(isObject)) return given;
  throw new RuntimeError(
    'REPLY_MALFORMED',
    `the \`${member}\` of a replaced message are not a list of objects`,
  );
}

/** A request for a person's consent goes with its call. */
function keepApprovals(
  old: readonly Content[],
  calls: readonly Place<LanguageModelV4ToolCall>[],
): Place<Content>[] {
  const ids = new Set(calls.map(([call]) => call.toolCallId));
  return ofType(old, 'tool-approval-request')
    .filter(({ toolCallId }) => ids.has(toolCallId))
    .map((request) => [request, [request]]);
}

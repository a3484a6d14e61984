import {
  isJSONValue,
  type LanguageModelV4Content,
  type LanguageModelV4FinishReason,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4Source,
  type LanguageModelV4Text,
  type LanguageModelV4ToolCall,
  type LanguageModelV4ToolResult,
  type LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { type BodyPart, describeBody } from './message-description.ts';
import {
  createFileFinder,
  keepTextlessMetadata,
  layOutParts,
  matchParts,
  type PartMatcher,
  type PlainObject,
  plainMessage,
  type Replacement,
  readCalls,
  rebuildBody,
  rebuildReasoning,
  type ToolCallMember,
} from './rebuilt.ts';

export type ModelAnswer = Pick<LanguageModelV4GenerateResult, 'content' | 'finishReason' | 'usage'>;

interface SentAnswer extends Pick<ModelAnswer, 'content' | 'finishReason'> {
  readonly message: ChatMessage;
}

/**
 * An assistant message with the whole text, tool calls (`args` byte for byte), `reasoning`, `finish_reason` and
 * `cost_info`, and any `tool_results` and `sources`.
 */
export function fromAnswer({ content, finishReason, usage }: ModelAnswer): ChatMessage {
  return {
    role: 'assistant',
    ...describeAnswer(content),
    finish_reason: finishWord(finishReason),
    ...costOf(usage),
  };
}

/**
 * The message is complete: tool calls, results, sources, files and reasoning that it does not repeat are dropped.
 * Throws REPLY_MALFORMED if it cannot be an answer.
 */
export function toAnswer(
  message: ChatMessage,
  sent?: SentAnswer,
): { readonly content: LanguageModelV4Content[]; readonly finishReason: LanguageModelV4FinishReason } {
  const old = sent?.content ?? [];
  if (sent !== undefined && isSameToTheDigit(message, sent.message)) {
    return { content: [...old], finishReason: sent.finishReason };
  }
  const plain = plainMessage(message);
  const content = rebuildAnswer(plain, old);
  return { content, finishReason: adaptFinish(finishReasonOf(plain['finish_reason'], sent), old, content) };
}

const nativeFinishWords: Readonly<Record<LanguageModelV4FinishReason['unified'], string>> = {
  stop: 'stop',
  length: 'max_output_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'safety',
  error: 'error',
  interrupted: 'interrupted',
  other: 'other',
};

export function finishWord({ unified, raw }: LanguageModelV4FinishReason): string {
  if (unified === 'content-filter' && raw === 'refusal') return 'refusal';
  if (unified === 'other' && raw !== undefined && raw !== '') return raw;
  return nativeFinishWords[unified];
}

function costOf({ inputTokens, outputTokens }: LanguageModelV4Usage) {
  const cost = {
    ...(inputTokens.total !== undefined && { input_tokens: inputTokens.total }),
    ...(outputTokens.total !== undefined && { output_tokens: outputTokens.total }),
  };
  return Object.keys(cost).length === 0 ? {} : { cost_info: cost };
}

function finishReasonOf(given: unknown, sent: SentAnswer | undefined): LanguageModelV4FinishReason {
  const old = sent?.finishReason ?? { unified: 'stop', raw: undefined };
  if (typeof given !== 'string' || given === finishWord(old)) return old;
  if (given === 'refusal') return { unified: 'content-filter', raw: given };
  const [unified] = unifiedReasons.filter((reason) => nativeFinishWords[reason] === given);
  return unified === undefined ? { unified: 'other', raw: given } : { unified, raw: undefined };
}

const unifiedReasons = [
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'error',
  'interrupted',
  'other',
] as const;

function adaptFinish(
  finish: LanguageModelV4FinishReason,
  old: readonly LanguageModelV4Content[],
  content: readonly LanguageModelV4Content[],
): LanguageModelV4FinishReason {
  const { unified } = finish;
  if (asksForTools(content)) return unified === 'stop' ? { unified: 'tool-calls', raw: undefined } : finish;
  return unified === 'tool-calls' && asksForTools(old) ? { unified: 'stop', raw: undefined } : finish;
}

function asksForTools(content: readonly LanguageModelV4Content[]): boolean {
  return content.some((part) => part.type === 'tool-call' && part.providerExecuted !== true);
}

type Content = LanguageModelV4Content;

/**
 * Keeps the order of the old content. Drops provider-private parts: no hook has seen them, and they may hold what was
 * replaced. Of metadata, only members without text stay. Throws REPLY_MALFORMED.
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
  add: () => throwMalformedEntry('sources', 'that the original did not have'),
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
  throw new RuntimeError('REPLY_MALFORMED', `the \`${member}\` of a replaced message have an entry ${what}`);
}

function readEntries(message: PlainObject, member: string): readonly PlainObject[] {
  const given = message[member] ?? [];
  if (Array.isArray(given) && given.every(isObject)) return given;
  throw new RuntimeError(
    'REPLY_MALFORMED',
    `the \`${member}\` of a replaced message are not a list of objects`,
  );
}

function keepApprovals(
  old: readonly Content[],
  calls: readonly Replacement<LanguageModelV4ToolCall>[],
): Replacement<Content>[] {
  const ids = new Set(calls.map(([call]) => call.toolCallId));
  return ofType(old, 'tool-approval-request')
    .filter(({ toolCallId }) => ids.has(toolCallId))
    .map((request) => [request, [request]]);
}

/** Drops what hooks have not seen. `isCitedSame`: the citations are those that hooks were sent. */
function keepSeenMembers(part: LanguageModelV4Content, isCitedSame: boolean): LanguageModelV4Content {
  switch (part.type) {
    case 'text':
      return keepSeenText(part, isCitedSame);
    case 'reasoning':
      return {
        type: part.type,
        text: part.text,
        ...keepTextlessMetadata('reasoning', part.providerMetadata),
      };
    case 'file': {
      const { type, mediaType, data, providerMetadata } = part;
      return { type, mediaType, data, ...keepTextlessMetadata('file', providerMetadata) };
    }
    case 'source':
      return withoutMetadata(part);
    case 'tool-call': {
      const { type, toolCallId, toolName, input, providerExecuted, dynamic, providerMetadata } = part;
      const flags = { ...definedFlag({ providerExecuted }), ...definedFlag({ dynamic }) };
      return {
        type,
        toolCallId,
        toolName,
        input,
        ...flags,
        ...keepTextlessMetadata('tool-call', providerMetadata),
      };
    }
    case 'tool-result': {
      const { type, toolCallId, toolName, result, isError, preliminary, dynamic, providerMetadata } = part;
      const flags = {
        ...definedFlag({ isError }),
        ...definedFlag({ preliminary }),
        ...definedFlag({ dynamic }),
      };
      return {
        type,
        toolCallId,
        toolName,
        result,
        ...flags,
        ...keepTextlessMetadata('tool-result', providerMetadata),
      };
    }
    case 'tool-approval-request':
      return { type: part.type, approvalId: part.approvalId, toolCallId: part.toolCallId };
    default:
      return part;
  }
}

function keepSeenText({ text, citations }: LanguageModelV4Text, isCitedSame: boolean): LanguageModelV4Text {
  const cited = citations?.map(({ source, ...citation }) => ({
    ...citation,
    source: withoutMetadata(source),
  }));
  return { type: 'text', text, ...(isCitedSame && cited && { citations: cited }) };
}

function withoutMetadata({ providerMetadata: _, ...source }: LanguageModelV4Source): LanguageModelV4Source {
  return source;
}

function definedFlag<Flag extends Readonly<Record<string, boolean | undefined>>>(given: Flag): Partial<Flag> {
  return Object.values(given)[0] === undefined ? {} : given;
}

function describeAnswer(content: readonly LanguageModelV4Content[]): {
  readonly content: string;
  readonly [member: string]: unknown;
} {
  const body = content.filter((part) => part.type === 'text' || part.type === 'file');
  const calls = content.filter((part) => part.type === 'tool-call').map(describeAnswerToolCall);
  const results = content.filter((part) => part.type === 'tool-result').map(describeToolResult);
  const sources = content.filter((part) => part.type === 'source').map(describeSource);
  const citations = content.flatMap((part) => (part.type === 'text' ? (part.citations ?? []) : []));
  const cited = citations.map(({ source, citedText: cited_text }) => ({
    ...describeSource(source),
    cited_text,
  }));
  const reasoning = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('');
  return {
    ...describeBody(body),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(results.length > 0 && { tool_results: results }),
    ...(sources.length > 0 && { sources }),
    ...(cited.length > 0 && { citations: cited }),
    ...(reasoning !== '' && { reasoning }),
  };
}

/** `args` is the model's own text if that is one JSON object, else the text as a string. */
function describeAnswerToolCall({ toolCallId, toolName, input }: LanguageModelV4ToolCall) {
  return { id: toolCallId, name: toolName, args: argsOf(input) };
}

function describeToolResult({ toolCallId, toolName, result, isError }: LanguageModelV4ToolResult) {
  const content = typeof result === 'string' ? result : stringifyJson(result);
  return { id: toolCallId, name: toolName, content, ...(isError === true && { is_error: true }) };
}

function describeSource(source: LanguageModelV4Source): Readonly<Record<string, unknown>> {
  const { id, title } = source;
  if (source.sourceType === 'url') return { id, type: 'url', url: source.url, title };
  return { id, type: 'document', mime_type: source.mediaType, title, filename: source.filename };
}

function argsOf(input: string): unknown {
  const text = input.trim();
  if (text === '') return {};
  const json = new Json(text);
  return isJsonObject(json) ? json : input;
}

function isJsonObject(json: Json): boolean {
  try {
    return isObject(json.value);
  } catch {
    return false;
  }
}

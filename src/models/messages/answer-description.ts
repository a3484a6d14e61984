import type {
  LanguageModelV4Content,
  LanguageModelV4Source,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
} from '@ai-sdk/provider';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { describeBody } from './message-description.ts';

/** The members of a native message for an answer's content; provider metadata is left out. */
export function describeAnswer(content: readonly LanguageModelV4Content[]): {
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

/** `args` is the model's own text where that is one JSON object, else the text as a string. */
export function describeAnswerToolCall({ toolCallId, toolName, input }: LanguageModelV4ToolCall) {
  return { id: toolCallId, name: toolName, args: argsOf(input) };
}

export function describeToolResult({ toolCallId, toolName, result, isError }: LanguageModelV4ToolResult) {
  const content = typeof result === 'string' ? result : stringifyJson(result);
  return { id: toolCallId, name: toolName, content, ...(isError === true && { is_error: true }) };
}

export function describeSource(source: LanguageModelV4Source): Readonly<Record<string, unknown>> {
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

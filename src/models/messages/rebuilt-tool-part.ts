import {
  isJSONValue,
  type LanguageModelV4ToolResultOutput,
  type LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/try-parse.ts';
import { describeMessage, type ToolPart } from './message-description.ts';
import { type FindFile, type PlainObject, rebuildBody } from './rebuilt-body.ts';

export interface ToolOrigin {
  /** The part that was sent in this message's place. */
  readonly part: ToolPart | undefined;
  readonly findFile: FindFile;
}

/** The part of a tool message that a replaced message stands for. Throws REPLY_MALFORMED when it is none. */
export function rebuildToolPart(message: PlainObject, { part, findFile }: ToolOrigin): ToolPart {
  if (isObject(message['tool_approval'])) return rebuildApproval(message, message['tool_approval']);
  const result = message['tool_result'];
  if (!isObject(result)) throw malformedResult();
  const { id, name } = result;
  if (typeof id !== 'string' || typeof name !== 'string') throw malformedResult();
  const old = part?.type === 'tool-result' && part.toolCallId === id ? part : undefined;
  const output = rebuildOutput({ content: message['content'], ...result }, old, findFile);
  return { type: 'tool-result', toolCallId: id, toolName: name, output };
}

function malformedResult(): RuntimeError {
  const what = 'a replaced tool message has no `tool_result` with an id and a name';
  return new RuntimeError('REPLY_MALFORMED', what);
}

function rebuildApproval({ content }: PlainObject, { id, approved }: PlainObject): ToolPart {
  if (typeof id !== 'string' || typeof approved !== 'boolean') {
    throw new RuntimeError('REPLY_MALFORMED', 'a replaced `tool_approval` is not {id, approved}');
  }
  const reason = typeof content === 'string' && content !== '' ? { reason: content } : {};
  return { type: 'tool-approval-response', approvalId: id, approved, ...reason };
}

type Output = LanguageModelV4ToolResultOutput;

function rebuildOutput(
  result: PlainObject,
  old: LanguageModelV4ToolResultPart | undefined,
  findFile: FindFile,
): Output {
  if (Array.isArray(result['parts'])) {
    const value = rebuildBody(result, { body: [], findFile, keepsOptions: false });
    return { type: 'content', value: [...value] };
  }
  const text = changedText(result, old);
  if (!isError(result)) return okOutput(text, old?.output);
  if (result['error_type'] === 'approval') return { type: 'execution-denied', reason: text };
  return old?.output.type === 'error-json'
    ? jsonOutput(text, 'error-json')
    : { type: 'error-text', value: text };
}

function isError({ error, error_type: type }: PlainObject): boolean {
  return (typeof error === 'string' && error !== '') || type === 'approval';
}

function okOutput(text: string, old: Output | undefined): Output {
  return old?.type === 'json' ? jsonOutput(text, 'json') : { type: 'text', value: text };
}

/** A changed JSON text that is JSON no more is sent as text. */
function jsonOutput(text: string, type: 'json' | 'error-json'): Output {
  const value = tryParseLossless(text);
  if (value !== undefined && isJSONValue(value)) return { type, value };
  return { type: type === 'json' ? 'text' : 'error-text', value: text };
}

/** The text of a failed result stands in `content` and in `error`; the copy that was changed counts. */
function changedText(
  { content, error }: PlainObject,
  old: LanguageModelV4ToolResultPart | undefined,
): string {
  const text = typeof content === 'string' ? content : '';
  if (typeof error !== 'string' || error === '' || error === text) return text;
  const [sent] = old === undefined ? [] : describeMessage({ role: 'tool', content: [old] });
  const before = sent?.message.content ?? '';
  if (error === before) return text;
  if (text === before) return error;
  throw new RuntimeError(
    'REPLY_MALFORMED',
    'a replaced tool message says one thing in `content`, another in `error`',
  );
}

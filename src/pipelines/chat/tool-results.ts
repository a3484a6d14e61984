import { isObject } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/try-parse.ts';
import type { CallResult } from '../../calls/tool-call/callable-tool.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { FinishedCall } from '../../contract/turn.ts';
import { failedOpenIn } from '../../dialects/metadata.ts';
import { argsObject, idOf, type RequestedCall } from '../state/requested-calls.ts';
import type { ToolCallRecord, TurnState } from './turn-state.ts';

/**
 * Appends the results of a round to the conversation, in the order of the calls, and returns the finished
 * calls.
 */
export function appendResults(
  state: TurnState,
  requested: readonly RequestedCall[],
  results: readonly CallResult[],
): FinishedCall[] {
  const index = state.messages.length - 1;
  return requested.flatMap((call, position) => {
    const result = results[position];
    if (result === undefined) return [];
    const record = toToolCallRecord(call, result, index);
    state.toolCalls.push(record);
    state.failedOpen.push(...failedOpenIn(record.metadata));
    state.messages.push(toToolMessage(call, record));
    const { name, content } = record;
    return [{ name, call_id: idOf(call, result.callId), args: argsObject(call.args), content }];
  });
}

function toToolCallRecord(
  { name, args }: RequestedCall,
  { outcome, content, metadata }: CallResult,
  index: number,
): ToolCallRecord {
  // JSON arguments keep their bytes; others are the text that the model wrote.
  const status = outcome.status === 'pending' ? 'failed' : outcome.status;
  const error = outcome.status === 'failed' ? outcome.error.message : status === 'denied' ? content : '';
  return { name, args: tryJson(args) ?? args, status, content, error, metadata, index };
}

/** The message with texts appended to its content, and to the error of a failed result. */
export function appendText(message: ChatMessage, texts: readonly string[]): ChatMessage {
  const content = [message.content, ...texts].join('\n');
  const result = message['tool_result'];
  if (!isObject(result) || result['error'] === undefined) return { ...message, content };
  return { ...message, content, tool_result: { ...result, error: content } };
}

function toToolMessage({ id, name }: RequestedCall, made: ToolCallRecord): ChatMessage {
  // The AI SDK has one text for a result that went wrong, so both members say it.
  const error = made.status === 'ok' ? {} : { error: made.content };
  return { role: 'tool', content: made.content, tool_result: { id, name, ...error } };
}

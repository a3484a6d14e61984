import type { ChatMessage } from '../../contract/provider.ts';
import type { FinishedCall } from '../../contract/turn.ts';
import { failuresIn } from '../../dialects/metadata.ts';
import type { CallResult } from '../../hooks/call-result.ts';
import { isObject, Json } from '../../json/json.ts';
import { type AskedCall, argsObject, idOf } from './tool-calls.ts';
import type { MadeCall, Talk } from './turn-state.ts';

/** Puts the results of a round into the conversation, in the order of the calls. */
export function takeResults(
  talk: Talk,
  asked: readonly AskedCall[],
  results: readonly CallResult[],
): FinishedCall[] {
  const index = talk.messages.length - 1;
  return asked.flatMap((call, position) => {
    const result = results[position];
    if (result === undefined) return [];
    const made = toMadeCall(call, result, index);
    talk.toolCalls.push(made);
    talk.failedOpen.push(...failuresIn(made.metadata));
    talk.messages.push(toToolMessage(call, made));
    const { name, content } = made;
    return [{ name, call_id: idOf(call, result.callId), args: argsObject(call.args), content }];
  });
}

function toMadeCall(
  { name, args }: AskedCall,
  { outcome, content, metadata }: CallResult,
  index: number,
): MadeCall {
  const status = outcome.status === 'pending' ? 'failed' : outcome.status;
  const error = outcome.status === 'failed' ? outcome.error.message : status === 'denied' ? content : '';
  return { name, args: exactArgs(args), status, content, error, metadata, index };
}

/** Arguments that are JSON keep their bytes; what a model wrote wrongly stays the text that it was. */
function exactArgs(args: string): Json | string {
  try {
    const json = new Json(args);
    void json.value;
    return json;
  } catch {
    return args;
  }
}

/** A message with more text below its own, a failed result's error included. */
export function addText(message: ChatMessage, texts: readonly string[]): ChatMessage {
  const content = [message.content, ...texts].join('\n');
  const result = message['tool_result'];
  if (!isObject(result) || result['error'] === undefined) return { ...message, content };
  return { ...message, content, tool_result: { ...result, error: content } };
}

function toToolMessage({ id, name }: AskedCall, made: MadeCall): ChatMessage {
  // The AI SDK has one text for a result that went wrong, so both members say it.
  const error = made.status === 'ok' ? {} : { error: made.content };
  return { role: 'tool', content: made.content, tool_result: { id, name, ...error } };
}

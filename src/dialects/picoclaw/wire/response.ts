import type { ChatMessage } from '../../../contract/provider.ts';
import type { Json } from '../../../json/json.ts';
import { malformed, nonNull } from '../../body.ts';
import { toPlainValue } from '../../payload.ts';
import { foldObject } from '../json-parts.ts';
import { fromToolCalls, type NeutralCall, toMessage } from './message.ts';

/** The members of an LLMRESPONSE beside its text, with their defaults. */
export const defaultResponse = {
  role: 'assistant',
  finish_reason: 'stop',
  reasoning: '',
  reasoning_details: null,
} as const;

/** LLMRESPONSE, complete: tool calls have their names and arguments. */
export function toResponse(message: ChatMessage) {
  const { content, reasoning_content, tool_calls } = toMessage(message);
  const finish = toPlainValue(message['finish_reason']);
  return {
    role: 'assistant',
    content,
    ...(reasoning_content !== undefined && { reasoning_content }),
    ...(tool_calls !== undefined && { tool_calls }),
    finish_reason: typeof finish === 'string' ? finish : tool_calls === undefined ? 'stop' : 'tool_calls',
    reasoning: '',
    reasoning_details: null,
  };
}

/** An LLMRESPONSE that a hook wrote, taken apart. */
export interface ReadResponse {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly NeutralCall[];
}

/** The members of LLMRESPONSE that say something here. */
export const responseKeys = ['content', 'reasoning_content', 'tool_calls', 'finish_reason', 'role'] as const;

/** Throws REPLY_MALFORMED where it has no text or its calls are none. */
export function readResponseObject(json: Json, what: string): ReadResponse {
  const body = foldObject(json, what, responseKeys);
  const content = body.get('content')?.value;
  const reasoning = nonNull(body.get('reasoning_content'))?.value ?? '';
  if (typeof content !== 'string') throw malformed(`\`content\` of ${what} is not a string`);
  if (typeof reasoning !== 'string') throw malformed(`\`reasoning_content\` of ${what} is not a string`);
  return { content, reasoning, calls: fromToolCalls(body.get('tool_calls'), `\`tool_calls\` of ${what}`) };
}

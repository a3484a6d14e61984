import type { ChatMessage } from '../../contract/provider.ts';
import type { Json } from '../../json/json.ts';
import type { Settled } from './settled.ts';
import { countFiles } from './wire/message.ts';
import { readResponseObject } from './wire/response.ts';

/** A model's answer as the hooks left it: the whole message, and no tool call that they did not repeat. */
export function settleMessage(original: ChatMessage, response: Json): Settled {
  const { content, reasoning, calls } = readResponseObject(response, 'the answer');
  const { parts, tool_calls: _calls, reasoning: _reasoning, ...others } = original;
  const keepsText = content === original.content;
  const message = {
    ...others,
    role: 'assistant',
    content,
    ...(keepsText && parts !== undefined && { parts }),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { replace: { message }, droppedFiles: keepsText ? 0 : countFiles(original) };
}

import type { ChatMessage } from '../../contract/provider.ts';
import type { Json } from '../../json/json.ts';
import type { NeutralReplacement } from './neutral-replacement.ts';
import { countFiles } from './wire/message.ts';
import { readResponseObject } from './wire/response.ts';

/** A model's answer after the hooks, in neutral form; tool calls that they did not repeat are gone. */
export function toNeutralMessage(original: ChatMessage, response: Json): NeutralReplacement {
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

import { RuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import type { EvalContext, EvalToolCall } from '../../contract/eval.ts';
import { readMessages } from '../transcript/messages.ts';
import {
  type JsonObject,
  readIndex,
  readList,
  readObject,
  readText,
  requireObject,
  requireText,
} from '../transcript/row-values.ts';
import { readToolCalls } from '../transcript/tool-calls.ts';

/**
 * The conversation around a case, with every absent or null member empty; tool calls that it does not list are those of
 * its messages. Throws DATASET_INVALID.
 */
export function readContext(value: unknown): EvalContext {
  const context = readObject(value, 'context');
  refuseUnknown(context);
  const messages = readMessages(context['messages'], messagesPlace);
  return {
    messages,
    turn_index: readIndex(context['turn_index'], 'context.turn_index'),
    tool_calls: isAbsent(context['tool_calls'])
      ? readToolCalls(messages, messagesPlace)
      : readList(context['tool_calls'], 'context.tool_calls').map(readToolCall),
    variables: readObject(context['variables'], 'context.variables'),
    metadata: readObject(context['metadata'], 'context.metadata'),
    ...optionalText(context, 'session_id'),
    ...optionalText(context, 'prompt_id'),
  };
}

const messagesPlace = 'context.messages';

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

const members: ReadonlySet<string> = new Set([
  'messages',
  'turn_index',
  'tool_calls',
  'variables',
  'metadata',
  'session_id',
  'prompt_id',
]);

function refuseUnknown(context: JsonObject): void {
  const unknown = Object.keys(context).find((key) => !members.has(key));
  if (unknown === undefined) return;
  const hint = `Known members: ${[...members].join(', ')}.`;
  throw new RuntimeError('DATASET_INVALID', `context.${unknown}: unknown member`, { hint });
}

function readToolCall(value: unknown, index: number): EvalToolCall {
  const place = `context.tool_calls[${index}]`;
  const {
    name,
    args = {},
    result,
    error,
    error_type: errorType,
    index: position,
  } = requireObject(value, place);
  return {
    name: requireText(name, `${place}.name`),
    args,
    result:
      typeof result === 'object' && result !== null
        ? stringifyJson(result)
        : readText(result, `${place}.result`),
    error: readText(error, `${place}.error`),
    index: readIndex(position, `${place}.index`),
    ...(isAbsent(errorType) ? {} : { error_type: readText(errorType, `${place}.error_type`) }),
  };
}

function optionalText(context: JsonObject, key: 'session_id' | 'prompt_id'): Record<string, string> {
  const value = context[key];
  return isAbsent(value) ? {} : { [key]: readText(value, `context.${key}`) };
}

import type { EvalContext, EvalToolCall } from '../contract/eval.ts';
import type { ChatMessage } from '../contract/provider.ts';
import { RuntimeError } from '../errors.ts';
import { isObject, stringifyJson } from '../json.ts';
import { misfit } from './misfit.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The conversation around a case, with every absent or null member empty. Throws DATASET_INVALID. */
export function readContext(value: unknown): EvalContext {
  const context = readObject(value, 'context');
  const unknown = Object.keys(context).find((key) => !members.has(key));
  if (unknown !== undefined) {
    const hint = `Known members: ${[...members].join(', ')}.`;
    throw new RuntimeError('DATASET_INVALID', `context.${unknown}: unknown member`, { hint });
  }
  return {
    messages: readList(context['messages'], 'context.messages').map(readMessage),
    turn_index: readIndex(context['turn_index'], 'context.turn_index'),
    tool_calls: readList(context['tool_calls'], 'context.tool_calls').map(readToolCall),
    variables: readObject(context['variables'], 'context.variables'),
    metadata: readObject(context['metadata'], 'context.metadata'),
    ...optionalText(context, 'session_id'),
    ...optionalText(context, 'prompt_id'),
  };
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

function readMessage(value: unknown, index: number): ChatMessage {
  const place = `context.messages[${index}]`;
  if (!isObject(value)) throw misfit(place, 'a mapping', value);
  return {
    ...value,
    role: readRole(value['role'], `${place}.role`),
    content: readText(value['content'], `${place}.content`),
  };
}

function readRole(value: unknown, place: string): ChatMessage['role'] {
  const role = roles.find((known) => known === value);
  if (role === undefined) throw misfit(place, `one of ${roles.join(', ')}`, value);
  return role;
}

const roles = ['system', 'user', 'assistant', 'tool'] as const;

function readToolCall(value: unknown, index: number): EvalToolCall {
  const place = `context.tool_calls[${index}]`;
  if (!isObject(value)) throw misfit(place, 'a mapping', value);
  const { name, args = {}, result, error } = value;
  if (typeof name !== 'string') throw misfit(`${place}.name`, 'text', name);
  return {
    name,
    args,
    result:
      typeof result === 'object' && result !== null
        ? stringifyJson(result)
        : readText(result, `${place}.result`),
    error: readText(error, `${place}.error`),
    index: readIndex(value['index'], `${place}.index`),
  };
}

function readList(value: unknown, place: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw misfit(place, 'a list', value);
  return value;
}

function readObject(value: unknown, place: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isObject(value) || JSON.isRawJSON(value)) throw misfit(place, 'a mapping', value);
  return value;
}

function readIndex(value: unknown, place: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw misfit(place, 'a whole number from 0', value);
  }
  return value;
}

function readText(value: unknown, place: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw misfit(place, 'text', value);
  return value;
}

function optionalText(context: JsonObject, key: 'session_id' | 'prompt_id'): Record<string, string> {
  const value = context[key];
  return value === undefined || value === null ? {} : { [key]: readText(value, `context.${key}`) };
}

import type { ChatMessage } from '../../../contract/provider.ts';
import { isObject, Json } from '../../../json/json.ts';
import { elementsOf } from '../../../json/scan.ts';
import { malformed, nonNull } from '../../body.ts';
import { toPlainValue } from '../../payload.ts';
import { foldObject, requireList } from '../json-parts.ts';
import { fromToolCalls, type NeutralCall, toToolCalls } from './call.ts';

/** MSGs of a prompt: the system prompt is the first one. */
export function toMessages({ system_prompt, messages }: PromptParts): unknown[] {
  return promptMessages({ system_prompt, messages }).map(toMessage);
}

export interface PromptParts {
  readonly system_prompt: string;
  readonly messages: readonly ChatMessage[];
}

/** A prompt's messages in the places that their MSGs have. */
export function promptMessages({ system_prompt, messages }: PromptParts): readonly ChatMessage[] {
  return system_prompt === '' ? messages : [{ role: 'system', content: system_prompt }, ...messages];
}

/** MSG: `content` is always a string. */
export function toMessage(message: ChatMessage) {
  const reasoning = toPlainValue(message['reasoning']);
  const calls = toToolCalls(message);
  const result = toPlainValue(message['tool_result']);
  return {
    role: message.role,
    content: message.content,
    ...(typeof reasoning === 'string' && reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(isObject(result) && { tool_call_id: String(toPlainValue(result['id']) ?? '') }),
  };
}

/** An MSG that a hook wrote, taken apart. */
export interface ReadMessage {
  readonly json: Json;
  readonly role: ChatMessage['role'];
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly NeutralCall[];
  readonly callId: string;
}

/** The MSGs of a list. Throws REPLY_MALFORMED where one cannot be a message. */
export function readMessages(list: Json, what: string): ReadMessage[] {
  return requireList(list, what).map((message, index) => readMessage(message, `${what}[${index}]`));
}

function readMessage(json: Json, what: string): ReadMessage {
  const body = foldObject(json, what, messageKeys);
  const text = (key: string) => {
    // An empty text is left out or null where a Go program wrote it.
    const value = nonNull(body.get(key))?.value ?? '';
    if (typeof value !== 'string') throw malformed(`\`${key}\` of ${what} is not a string`);
    return value;
  };
  const role = roles.find((known) => known === body.get('role')?.value);
  if (role === undefined) throw malformed(`${what} has no known role`);
  const calls = fromToolCalls(body.get('tool_calls'), `\`tool_calls\` of ${what}`);
  const [content, reasoning, callId] = [text('content'), text('reasoning_content'), text('tool_call_id')];
  return { json, role, content, reasoning, calls, callId };
}

const messageKeys = ['role', 'content', 'reasoning_content', 'tool_calls', 'tool_call_id'] as const;

const roles = ['system', 'user', 'assistant', 'tool'] as const;

/** How many images and files a message holds, which an MSG cannot carry. */
export function countFiles(message: ChatMessage): number {
  const result = toPlainValue(message['tool_result']);
  return filesAmong(message['parts']) + (isObject(result) ? filesAmong(result['parts']) : 0);
}

function filesAmong(parts: unknown): number {
  if (parts === undefined || parts === null) return 0;
  const list = Json.from(parts);
  if (!Array.isArray(list.value)) return 0;
  return elementsOf(list).filter(({ value }) => !isObject(value) || value['type'] !== 'text').length;
}

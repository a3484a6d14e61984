import type { ChatMessage } from '../../../contract/provider.ts';
import { asText } from '../../../json/as-text.ts';
import { isObject, Json } from '../../../json/json.ts';
import { elementsOf, membersOf } from '../../../json/scan.ts';
import { malformed, nonNull } from '../../body.ts';
import { toPlainValue } from '../../payload.ts';
import { foldObject, requireList } from '../json-parts.ts';

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
    ...(isObject(result) && { tool_call_id: asText(toPlainValue(result['id']) ?? '') }),
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

/** TOOLCALLs of an assistant message; `arguments` is the text that the model wrote. */
export function toToolCalls(message: ChatMessage) {
  const list = message['tool_calls'];
  if (list === undefined || list === null) return [];
  return elementsOf(Json.from(list)).map((call) => {
    const { id, name, args } = membersOf(call);
    const text = typeof args?.value === 'string' ? args.value : (args?.text ?? '');
    return {
      id: asText(id?.value ?? ''),
      type: 'function',
      function: { name: asText(name?.value ?? ''), arguments: text },
    };
  });
}

/** A tool call in neutral words. */
export interface NeutralCall {
  readonly id: string;
  readonly name: string;
  /** A text that is no JSON object stays a string; argument validation rejects it. */
  readonly args: Json | string;
}

/** The TOOLCALLs of a list; none for null. Throws REPLY_MALFORMED where one has no name or no argument text. */
export function fromToolCalls(list: Json | undefined, what: string): NeutralCall[] {
  const given = nonNull(list);
  if (given === undefined) return [];
  return requireList(given, what).map((call, index) => fromToolCall(call, `${what}[${index}]`));
}

function fromToolCall(call: Json, what: string): NeutralCall {
  const body = foldObject(call, what, ['id', 'function']);
  const id = nonNull(body.get('id'))?.value ?? '';
  const own = nonNull(body.get('function'));
  if (typeof id !== 'string') throw malformed(`the id of ${what} is not a string`);
  if (own === undefined) throw malformed(`${what} has no \`function\``);
  const called = foldObject(own, `\`function\` of ${what}`, ['name', 'arguments']);
  const { name, arguments: args } = membersOf(called.json);
  if (typeof name?.value !== 'string' || name.value === '') throw malformed(`${what} has no name`);
  if (typeof args?.value !== 'string') throw malformed(`the arguments of ${what} are not JSON text`);
  return { id, name: name.value, args: parseArguments(args.value) };
}

function parseArguments(text: string): Json | string {
  try {
    const json = new Json(text.trim());
    return isObject(json.value) ? json : text;
  } catch {
    return text;
  }
}

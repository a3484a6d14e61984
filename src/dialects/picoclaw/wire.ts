import { isObject, Json, parseLossless } from '../../base/json/json.ts';
import { asText } from '../../base/json/parse.ts';
import { elementsOf, type Member, membersOf } from '../../base/json/scan.ts';
import type { ToolHookResponse } from '../../contract/hook.ts';
import type { ChatMessage, ToolListing } from '../../contract/provider.ts';
import type { HookContext } from '../../contract/turn.ts';
import { type Body, malformed, nonNull, toBody } from '../body.ts';
import type { Payload } from '../foreign-dialect.ts';
import { toPlainValue } from '../payload-table.ts';

export function toMessages({ system_prompt, messages }: PromptParts): unknown[] {
  return promptMessages({ system_prompt, messages }).map(toMessage);
}

export interface PromptParts {
  readonly system_prompt: string;
  readonly messages: readonly ChatMessage[];
}

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

export interface ReadMessage {
  readonly json: Json;
  readonly role: ChatMessage['role'];
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly NeutralCall[];
  readonly callId: string;
}

export function readMessages(list: Json, what: string): ReadMessage[] {
  return requireList(list, what).map((message, index) => readMessage(message, `${what}[${index}]`));
}

function readMessage(json: Json, what: string): ReadMessage {
  const body = foldObject(json, what, messageKeys);
  const text = (key: string) => {
    // A Go program omits an empty text or writes null.
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

/** TOOLCALLs of an assistant message. `arguments` is the model's own text. */
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

interface NeutralCall {
  readonly id: string;
  readonly name: string;
  /** A text that is not a JSON object stays a string; argument validation rejects it. */
  readonly args: Json | string;
}

function fromToolCalls(list: Json | undefined, what: string): NeutralCall[] {
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

export function toToolDef({ name, description, input_schema }: ToolListing) {
  return { type: 'function', function: { name, description, parameters: input_schema ?? {} } };
}

interface ReadTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json | undefined;
}

export function readToolDefs(list: Json, what: string): ReadTool[] {
  return requireList(list, what).map((tool, index) => readToolDef(tool, `${what}[${index}]`));
}

function readToolDef(json: Json, what: string): ReadTool {
  const own = nonNull(foldObject(json, what, ['function']).get('function'));
  if (own === undefined) throw malformed(`${what} has no \`function\``);
  const body = foldObject(own, `\`function\` of ${what}`, ['name', 'description', 'parameters']);
  const name = body.get('name')?.value;
  const description = nonNull(body.get('description'))?.value ?? '';
  const parameters = nonNull(body.get('parameters'));
  if (typeof name !== 'string' || name === '') throw malformed(`${what} has no name`);
  if (typeof description !== 'string') throw malformed(`the description of ${what} is not a string`);
  if (parameters !== undefined && !isObject(parameters.value)) {
    throw malformed(`the parameters of ${what} are not an object`);
  }
  return { name, description, parameters };
}

export const defaultResult = {
  for_user: '',
  silent: false,
  is_error: false,
  async: false,
  media: [],
  artifact_tags: [],
  response_handled: false,
} as const;

export const resultKeys: readonly string[] = ['for_llm', ...Object.keys(defaultResult)];

export function readResultObject(json: Json, what: string): { readonly text: Json; readonly others: Parts } {
  const { for_llm: text, ...others } = membersOf(foldObject(json, what, resultKeys).json);
  if (typeof text?.value !== 'string') throw malformed(`\`for_llm\` of ${what} is not a string`);
  return { text, others };
}

type Parts = Readonly<Record<string, Json>>;

export function toToolResult({ content, error }: ToolHookResponse) {
  return { for_llm: content, ...defaultResult, is_error: error !== '' };
}

export const defaultResponse = {
  role: 'assistant',
  finish_reason: 'stop',
  reasoning: '',
  reasoning_details: null,
} as const;

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

interface ReadResponse {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly NeutralCall[];
}

export const responseKeys = ['content', 'reasoning_content', 'tool_calls', 'finish_reason', 'role'] as const;

export function readResponseObject(json: Json, what: string): ReadResponse {
  const body = foldObject(json, what, responseKeys);
  const content = body.get('content')?.value;
  const reasoning = nonNull(body.get('reasoning_content'))?.value ?? '';
  if (typeof content !== 'string') throw malformed(`\`content\` of ${what} is not a string`);
  if (typeof reasoning !== 'string') throw malformed(`\`reasoning_content\` of ${what} is not a string`);
  return { content, reasoning, calls: fromToolCalls(body.get('tool_calls'), `\`tool_calls\` of ${what}`) };
}

export const tracePaths = {
  before_llm: 'turn.llm.request',
  after_llm: 'turn.llm.response',
  before_tool: 'turn.tool.before',
  approve_tool: 'turn.tool.approve',
  after_tool: 'turn.tool.after',
} as const;

/** META always has all seven keys. Source: hook-json-protocol.md; TracePath and Source as the code sends them. */
export function toMeta(hookContext: HookContext, tracePath: string, round: number = hookContext.round) {
  return {
    AgentID: hookContext.agent,
    TurnID: hookContext.turn_id,
    ParentTurnID: '',
    SessionKey: hookContext.session_id,
    Iteration: round,
    TracePath: tracePath,
    Source: 'runTurn',
  };
}

const inboundKeys = [
  'channel',
  'account',
  'chat_id',
  'chat_type',
  'topic_id',
  'space_id',
  'space_type',
  'sender_id',
  'message_id',
  'mentioned',
  'reply_to_message_id',
  'reply_to_sender_id',
  'reply_handles',
  'raw',
] as const;

function toInbound({ host, session_id }: HookContext) {
  const keys = inboundKeys.filter((key) => host[key] !== undefined);
  const given: Payload = Object.fromEntries(keys.map((key) => [key, host[key]]));
  return { channel: 'cli', chat_id: session_id, sender_id: '', ...given };
}

export function toContext(hookContext: HookContext) {
  const inbound = toInbound(hookContext);
  return { context: { inbound }, channel: inbound.channel, chat_id: inbound.chat_id };
}

const scopeKeys = [
  'channel',
  'account',
  'chat_id',
  'topic_id',
  'space_id',
  'space_type',
  'chat_type',
  'sender_id',
  'message_id',
] as const;

export function toScope({ host }: HookContext) {
  return Object.fromEntries(
    scopeKeys
      .filter((key) => typeof host[key] === 'string' && host[key] !== '')
      .map((key) => [key, host[key]]),
  );
}

/** Durations on the wire are integers of nanoseconds. */
export function toNanoseconds(ms: number): number {
  return Math.round(ms * 1_000_000);
}

export function requireObject(json: Json, what: string): Body {
  if (!isObject(json.value)) throw malformed(`${what} is not an object`);
  return toBody(json);
}

/**
 * The object's members under their known names. A Go program accepts any letter case, and the last of several. Throws
 * REPLY_MALFORMED if the value is not an object. `what` names it.
 */
export function foldObject(json: Json, what: string, known: readonly string[]): Body {
  return foldBody(requireObject(json, what), known);
}

/** Sets `key` to an empty text if it is absent or null, as a Go program reads it. */
export function foldWithText(json: Json, key: string, known: readonly string[]): Json {
  const parts = membersOf(foldObject(json, `\`${key}\``, known).json);
  return Json.from({ ...parts, [key]: nonNull(parts[key]) ?? '' });
}

export function foldBody(body: Body, known: readonly string[]): Body {
  const names = new Map(known.map((name) => [name.toLowerCase(), name]));
  const nameOf = ({ key }: Member) => names.get(key.toLowerCase()) ?? key;
  if (body.members.every((member) => nameOf(member) === member.key)) return body;
  const { text } = body.json;
  const members = body.members.map(
    (member) => `${JSON.stringify(nameOf(member))}:${text.slice(member.start, member.end)}`,
  );
  return toBody(new Json(`{${members.join(',')}}`));
}

function requireList(json: Json, what: string): Json[] {
  if (!Array.isArray(json.value)) throw malformed(`${what} is not a list`);
  return elementsOf(json);
}

/** Ignores key order and white space. Compares numbers digit by digit. */
export function isSame(one: Json, other: Json): boolean {
  return (
    one.text === other.text || canonical(parseLossless(one.text)) === canonical(parseLossless(other.text))
  );
}

function canonical(value: unknown): string {
  if (JSON.isRawJSON(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

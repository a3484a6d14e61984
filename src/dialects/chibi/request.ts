import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { elementsOf, memberOf, scanElements, scanMembers } from '../../base/json/scan.ts';
import type { ChatMessage, ToolListing } from '../../contract/provider.ts';
import type { Turn } from '../../contract/turn.ts';
import { malformed } from '../body.ts';
import type { Payload } from '../foreign-dialect.ts';
import { sortJson } from './tool.ts';

/** The changed members of `model`, `system_prompt`, `messages`, `tools` and `options`. Throws REPLY_MALFORMED. */
export function toNeutralRequest(body: Json, turn: Turn): Payload {
  const { model, messages, tools, max_tokens, temperature } = readBodyChange(body);
  const listings = tools?.map(({ name, description, schema }) => {
    const category = turn.tools.find((tool) => tool.name === name)?.category;
    return { name, description, input_schema: schema, ...(category !== undefined && { category }) };
  });
  const given = { ...turn.options, ...omitUndefined({ max_tokens, temperature }) };
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  return {
    ...(model !== undefined && { model }),
    ...(messages && toNeutralMessages(messages, turn)),
    ...(listings && { tools: listings }),
    ...((max_tokens !== undefined || temperature !== undefined) && { options }),
  };
}

function omitUndefined(options: Readonly<Record<string, Json | null | undefined>>) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function toNeutralMessages(given: readonly WireMessage[], turn: Turn): Payload {
  const first = given.findIndex(({ role }) => role !== 'system');
  const lead = first === -1 ? given : given.slice(0, first);
  const rest = given.slice(lead.length);
  return {
    system_prompt: lead.map(({ content }) => content).join('\n\n'),
    messages: restoreMessages(rest, turn.messages),
  };
}

function restoreMessages(given: readonly WireMessage[], sent: readonly ChatMessage[]): ChatMessage[] {
  const known = new Map<string, ChatMessage[]>();
  for (const message of sent) {
    const text = sortJson(stringifyJson(describeMessage(message)));
    known.set(text, [...(known.get(text) ?? []), message]);
  }
  return given.map((message, index) => {
    const unchanged = known.get(sortJson(message.json.text))?.shift();
    if (unchanged !== undefined) return unchanged;
    const before = given.length === sent.length ? sent[index] : undefined;
    return rebuildMessage(message, before?.role === message.role ? before : undefined, { given, sent });
  });
}

interface MessageLists {
  readonly given: readonly WireMessage[];
  readonly sent: readonly ChatMessage[];
}

function rebuildMessage(
  message: WireMessage,
  before: ChatMessage | undefined,
  lists: MessageLists,
): ChatMessage {
  const { role, content, calls } = message;
  const files = before === undefined ? [] : filesOf(before);
  return {
    role,
    content,
    ...(files.length > 0 && { parts: [{ type: 'text', text: content }, ...files] }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ id, name, args }) => ({ id, name, args })) }),
    ...(role === 'tool' && { tool_result: resultOf(message, lists) }),
  };
}

function filesOf({ parts }: ChatMessage): unknown[] {
  const { value } = Json.from(parts ?? []);
  return Array.isArray(value) ? value.filter((part) => isObject(part) && part['text'] === undefined) : [];
}

/** A failed result stays failed, without its old texts, which the plugin changed. */
function resultOf({ callId: id, content }: WireMessage, { given, sent }: MessageLists): Payload {
  const original = sent.find((message) => message.role === 'tool' && callIdOf(message) === id);
  const { value } = Json.from(original?.['tool_result'] ?? {});
  const { name: known, error } = isObject(value) ? value : {};
  const isError = typeof error === 'string' && error !== '';
  const name = known ?? given.flatMap(({ calls }) => calls).find((call) => call.id === id)?.name;
  if (typeof name !== 'string') throw malformed(`its request_body answers the unknown call "${id}"`);
  return { id, name, ...(isError && { error: content }) };
}

/** The request to the model in the form of chibi's request body. Source: docs/hooks.md, pre_api_request. */
export function describeBody({ model, system_prompt, messages, tools, options }: Turn): Payload {
  const system = system_prompt === '' ? [] : [{ role: 'system', content: system_prompt }];
  const { max_tokens, temperature } = options;
  return {
    model,
    messages: [...system, ...messages.map(describeMessage)],
    ...(tools.length > 0 && { tools: tools.map(describeTool) }),
    stream: false,
    ...(max_tokens !== undefined && { max_tokens }),
    ...(temperature !== undefined && { temperature }),
  };
}

function describeMessage(message: ChatMessage): Payload {
  const { role, content } = message;
  const calls = callsOf(message);
  if (role === 'tool') return { role, tool_call_id: callIdOf(message), content };
  return { role, content, ...(calls.length > 0 && { tool_calls: calls }) };
}

function callIdOf({ tool_result: result }: ChatMessage): string {
  const { value } = Json.from(result ?? {});
  const id = isObject(value) ? value['id'] : undefined;
  return typeof id === 'string' ? id : '';
}

function callsOf({ tool_calls: calls }: ChatMessage): Payload[] {
  const text = stringifyJson(calls ?? []);
  return scanElements(text).map(({ start, end }) => {
    const call = text.slice(start, end);
    const members = scanMembers(call);
    const textAt = (key: string) => memberOf(call, members, key) ?? new Json('""');
    const args = textAt('args');
    const written = typeof args.value === 'string' ? args.value : args.text;
    return { id: textAt('id'), type: 'function', function: { name: textAt('name'), arguments: written } };
  });
}

function describeTool({ name, description, input_schema }: ToolListing): Payload {
  return { type: 'function', function: { name, description, parameters: input_schema } };
}

interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
}

interface WireMessage {
  readonly json: Json;
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly calls: readonly WireCall[];
  readonly callId: string;
}

interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

interface BodyChange {
  readonly model?: string;
  readonly messages?: readonly WireMessage[];
  readonly tools?: readonly WireTool[];
  /** Null removes the option. */
  readonly max_tokens?: Json | null;
  readonly temperature?: Json | null;
}

/**
 * Ignores members that Signalbox does not let plugins change. Throws REPLY_MALFORMED for a member of the wrong shape:
 * the change may have been meant to hide something.
 */
export function readBodyChange(body: Json): BodyChange {
  const members = scanMembers(body.text);
  const at = <Value>(key: string, read: (json: Json) => Value): { [name: string]: Value } => {
    const json = memberOf(body.text, members, key);
    return json === undefined ? {} : { [key]: read(json) };
  };
  return {
    ...at('model', (json) => textOf(json, 'model')),
    ...at('messages', (json) => requireElements(json, 'messages').map(readMessage)),
    ...at('tools', (json) => (json.value === null ? [] : requireElements(json, 'tools').map(readTool))),
    ...at('max_tokens', (json) => numberOf(json, 'max_tokens')),
    ...at('temperature', (json) => numberOf(json, 'temperature')),
  };
}

function readMessage(json: Json): WireMessage {
  const get = membersOf(json, 'messages');
  const role = get('role')?.value;
  if (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool') {
    throw wrongShape('messages');
  }
  const calls = get('tool_calls') ?? new Json('null');
  return {
    json,
    role,
    content: contentOf(get('content')),
    calls: calls.value === null ? [] : requireElements(calls, 'tool_calls').map(readCall),
    callId: role === 'tool' ? textOf(get('tool_call_id'), 'tool_call_id') : '',
  };
}

function contentOf(json: Json | undefined): string {
  if (json === undefined || json.value === null) return '';
  if (typeof json.value === 'string') return json.value;
  return requireElements(json, 'content')
    .map((part) => textOf(membersOf(part, 'content')('text'), 'content'))
    .join('');
}

function readCall(json: Json): WireCall {
  const get = membersOf(json, 'tool_calls');
  const called = get('function');
  const inner = membersOf(called ?? new Json('null'), 'tool_calls');
  const args = new Json(textOf(inner('arguments') ?? new Json('"{}"'), 'arguments').trim() || '{}');
  if (!isObject(valueIn(args))) throw wrongShape('arguments');
  return { id: textOf(get('id'), 'tool_calls'), name: textOf(inner('name'), 'tool_calls'), args };
}

function readTool(json: Json): WireTool {
  const inner = membersOf(membersOf(json, 'tools')('function') ?? new Json('null'), 'tools');
  const schema = inner('parameters') ?? new Json('{"type":"object"}');
  if (!isObject(schema.value)) throw wrongShape('tools');
  const description = textOf(inner('description') ?? new Json('""'), 'tools');
  return { name: textOf(inner('name'), 'tools'), description, schema };
}

function valueIn(json: Json): unknown {
  try {
    return json.value;
  } catch {
    return undefined;
  }
}

function membersOf(json: Json, name: string): (key: string) => Json | undefined {
  if (!isObject(json.value)) throw wrongShape(name);
  const members = scanMembers(json.text);
  return (key) => memberOf(json.text, members, key);
}

function requireElements(json: Json, name: string): Json[] {
  if (!Array.isArray(json.value)) throw wrongShape(name);
  return elementsOf(json);
}

function textOf(json: Json | undefined, name: string): string {
  if (typeof json?.value === 'string') return json.value;
  throw wrongShape(name);
}

function numberOf(json: Json, name: string): Json | null {
  if (json.value === null) return null;
  if (typeof json.value === 'number') return json;
  throw wrongShape(name);
}

function wrongShape(name: string) {
  return malformed(`the \`${name}\` of its request_body has the wrong shape`);
}

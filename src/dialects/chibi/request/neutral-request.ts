import { isObject, Json, stringifyJson } from '../../../base/json/json.ts';
import { memberOf, scanElements, scanMembers } from '../../../base/json/scan.ts';
import type { ChatMessage, ToolListing } from '../../../contract/provider.ts';
import type { Turn } from '../../../contract/turn.ts';
import { malformed } from '../../body.ts';
import type { Payload } from '../../foreign-dialect.ts';
import { sortJson } from '../tool.ts';
import { readBodyChange, type WireMessage } from './change.ts';

/**
 * A changed request body in neutral form: those of `model`, `system_prompt`, `messages`, `tools` and
 * `options` that changed. Throws REPLY_MALFORMED.
 */
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

/** The system messages at the beginning are the system prompt. */
function toNeutralMessages(given: readonly WireMessage[], turn: Turn): Payload {
  const first = given.findIndex(({ role }) => role !== 'system');
  const lead = first === -1 ? given : given.slice(0, first);
  const rest = given.slice(lead.length);
  return {
    system_prompt: lead.map(({ content }) => content).join('\n\n'),
    messages: restoreMessages(rest, turn.messages),
  };
}

/**
 * The messages, where an unchanged one is the original, with the members that a request body does not have.
 */
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

/** Parts without text, which no request body shows. */
function filesOf({ parts }: ChatMessage): unknown[] {
  const { value } = Json.from(parts ?? []);
  return Array.isArray(value) ? value.filter((part) => isObject(part) && part['text'] === undefined) : [];
}

/** A failed result stays one; its old texts, which the plugin changed, are gone. */
function resultOf({ callId: id, content }: WireMessage, { given, sent }: MessageLists): Payload {
  const original = sent.find((message) => message.role === 'tool' && callIdOf(message) === id);
  const { value } = Json.from(original?.['tool_result'] ?? {});
  const { name: known, error } = isObject(value) ? value : {};
  const isError = typeof error === 'string' && error !== '';
  const name = known ?? given.flatMap(({ calls }) => calls).find((call) => call.id === id)?.name;
  if (typeof name !== 'string') throw malformed(`its request_body answers the unknown call "${id}"`);
  return { id, name, ...(isError && { error: content }) };
}

/** What goes to the model, as chibi's request body has it. Source: docs/hooks.md, pre_api_request. */
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

/** A message in the form of a request body; members that the form does not have are left out. */
function describeMessage(message: ChatMessage): Payload {
  const { role, content } = message;
  const calls = callsOf(message);
  if (role === 'tool') return { role, tool_call_id: callIdOf(message), content };
  return { role, content, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** The call that a tool's message answers; '' where it answers none. */
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

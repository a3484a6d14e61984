import type { DecisionDocument } from '../../../contract/document.ts';
import type { Told } from '../../../inbound/inbound.ts';
import { findDuplicateKey } from '../../../json/duplicate-key.ts';
import { isObject, Json, stringifyJson } from '../../../json/json.ts';
import { tryParseLossless } from '../../../json/try-parse.ts';

/**
 * The conversation as native hooks read it: who said what, and which tools were called. Whatever else is sent to the model stands
 * in `other`, by its path.
 */
export function conversationOf(params: Told) {
  const { model, messages, meta: _, context: __, channel: ___, chat_id: ____, ...rest } = params;
  const sent = listAt(params, 'messages');
  const other = leftovers([
    ...(typeof model === 'string' ? [] : [['model', model] as const]),
    ...(Array.isArray(messages) && messages.length === sent.length ? [] : [['messages', messages] as const]),
    ...Object.entries(rest),
    ...sent.flatMap((message, at) => besideMessage(message, `messages[${at}]`)),
  ]);
  return {
    ...{ provider_id: 'picoclaw', messages: sent.map(toNative) },
    ...(typeof model === 'string' && { model }),
    ...(other !== undefined && { other }),
  };
}

type Entry = readonly [path: string, value: unknown];

/** The values in which any text stands, and all under a key that is not known; undefined where there are none. */
export function leftovers(entries: readonly Entry[]): Told | undefined {
  const held = entries.filter(
    ([path, value]) =>
      value !== undefined && (holdsText(value) || !knownKeys.has(path.replace(/^.*\./s, ''))),
  );
  return held.length === 0 ? undefined : Object.fromEntries(held);
}

/** Members of PicoClaw's own that may be empty, a number or a flag. Source: hook-json-protocol.md. */
const knownKeys: ReadonlySet<string> = new Set([
  ...['messages', 'tools', 'options', 'model', 'graceful_terminal', 'media', 'attachments', 'system_parts'],
  ...['reasoning_content', 'tool_calls', 'tool_call_id', 'model_name', 'created_at', 'id', 'type', 'name'],
  ...['role', 'finish_reason', 'usage', 'reasoning', 'reasoning_details', 'for_user', 'silent', 'is_error'],
  ...['async', 'artifact_tags', 'response_handled', 'response', 'result', 'arguments', 'function'],
]);

function holdsText(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (Array.isArray(value)) return value.some(holdsText);
  if (!isObject(value) || JSON.isRawJSON(value)) return false;
  // A key is a text, too.
  return Object.keys(value).length > 0;
}

/** What a native message does not hold of this one. */
function besideMessage(message: Told, path: string): readonly Entry[] {
  const { role: _, content: __, tool_calls: calls, ...rest } = message;
  const known = listAt(message, 'tool_calls');
  const isList = Array.isArray(calls) && calls.length === known.length;
  return [
    ...(calls === undefined || isList ? [] : [[`${path}.tool_calls`, calls] as const]),
    ...Object.entries(rest).map(([key, value]): Entry => [`${path}.${key}`, value]),
    ...known.flatMap((call, at) => besideCall(call, `${path}.tool_calls[${at}]`)),
  ];
}

function besideCall(call: Told, path: string): readonly Entry[] {
  const { id, type, function: own, ...rest } = call;
  const { name, arguments: args, ...more } = functionOf(call);
  return [
    ...(typeof id === 'string' ? [] : [[`${path}.id`, id] as const]),
    ...(type === 'function' ? [] : [[`${path}.type`, type] as const]),
    ...(own === undefined || isObject(own) ? [] : [[`${path}.function`, own] as const]),
    ...(typeof name === 'string' ? [] : [[`${path}.function.name`, name] as const]),
    ...(isObject(readArgs(args)) ? [] : [[`${path}.function.arguments`, args] as const]),
    ...Object.entries(more).map(([key, value]): Entry => [`${path}.function.${key}`, value]),
    ...Object.entries(rest).map(([key, value]): Entry => [`${path}.${key}`, value]),
  ];
}

function listAt(object: Told, key: string): readonly Told[] {
  const list: unknown = object[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function toNative(message: Told): Told {
  const { role, content } = message;
  const calls = listAt(message, 'tool_calls').map((call) => {
    const { name, arguments: args } = functionOf(call);
    return { id: call['id'], name, args: readArgs(args) ?? {} };
  });
  return { role, content: content ?? '', ...(calls.length > 0 && { tool_calls: calls }) };
}

/** The arguments as one object; undefined for a text that is none, or that says a key twice. */
function readArgs(text: unknown): unknown {
  if (typeof text !== 'string') return isObject(text) ? text : undefined;
  const args = tryParseLossless(text);
  return isObject(args) && findDuplicateKey(text) === undefined ? args : undefined;
}

function functionOf(call: Told): Told {
  return isObject(call['function']) ? call['function'] : {};
}

/**
 * The request with texts and arguments as the hooks have left them; undefined where they did more, or changed a message of the
 * system: PicoClaw would put back all that was there.
 */
export function changedRequest(params: Told, { replace }: DecisionDocument): Told | undefined {
  const changed: unknown = replace?.['messages'];
  const sent = listAt(params, 'messages');
  if (!Array.isArray(changed) || changed.length !== sent.length) return undefined;
  if (Object.keys(replace ?? {}).some((key) => key !== 'messages' && key !== 'other')) return undefined;
  const messages = sent.map((message, at) => withChanges(message, changed[at]));
  if (messages.includes(undefined)) return undefined;
  if (!loses(params, replace?.['other'], messages)) return undefined;
  const { model, tools, options } = params;
  return { model, messages, tools, options };
}

/** Whether what the hooks changed beside the messages is gone with what they changed in these. */
function loses(params: Told, changed: unknown, messages: readonly (Told | undefined)[]): boolean {
  if (changed === undefined) return true;
  const now = plainObject(changed);
  const left = leftovers(messages.flatMap((each, at) => besideMessage(each ?? {}, `messages[${at}]`))) ?? {};
  return Object.entries(conversationOf(params).other ?? {}).every(
    ([path, value]) =>
      stringifyJson(now[path] ?? null) === stringifyJson(value) ||
      (path.startsWith('messages[') && !(path in left)),
  );
}

function plainObject(value: unknown): Told {
  const plain = value instanceof Json ? value.value : value;
  return isObject(plain) ? plain : {};
}

function withChanges(message: Told, changed: unknown): Told | undefined {
  const before = toNative(message);
  if (!isObject(changed) || changed['role'] !== message['role']) return undefined;
  if (stringifyJson(pick(changed)) === stringifyJson(pick(before))) return message;
  const { content } = changed;
  const calls = withArguments(listAt(message, 'tool_calls'), before, changed);
  if (message['role'] === 'system' || typeof content !== 'string' || calls === undefined) return undefined;
  // The parts of a message repeat its text.
  const { system_parts: _, media: __, reasoning_content: ___, ...rest } = message;
  return { ...rest, content, ...(calls.length > 0 && { tool_calls: calls }) };
}

const pick = ({ content, tool_calls }: Told) => [content, tool_calls ?? []];

function withArguments(calls: readonly Told[], before: Told, changed: Told): readonly Told[] | undefined {
  const [old, now] = [listAt(before, 'tool_calls'), listAt(changed, 'tool_calls')];
  if (old.length !== now.length) return undefined;
  if (now.some(({ id, name }, at) => id !== old[at]?.['id'] || name !== old[at]?.['name'])) return undefined;
  return calls.map((call, at) => {
    const args = now[at]?.['args'];
    if (stringifyJson(args ?? null) === stringifyJson(old[at]?.['args'] ?? null)) return call;
    return { ...call, function: { ...functionOf(call), arguments: stringifyJson(args ?? {}) } };
  });
}

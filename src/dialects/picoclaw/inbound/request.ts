import type { DecisionDocument } from '../../../contract/document.ts';
import type { Told } from '../../../inbound/inbound.ts';
import { isObject, stringifyJson } from '../../../json/json.ts';
import { tryParseLossless } from '../../../json/try-parse.ts';

/** The conversation as native hooks read it: who said what, and which tools were called. */
export function conversationOf(params: Told) {
  const model = params['model'];
  const messages = listAt(params, 'messages').map(toNative);
  return { provider_id: 'picoclaw', ...(typeof model === 'string' && { model }), messages };
}

function listAt(object: Told, key: string): readonly Told[] {
  const list: unknown = object[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function toNative(message: Told): Told {
  const { role, content } = message;
  const calls = listAt(message, 'tool_calls').map((call) => {
    const { name, arguments: text } = functionOf(call);
    return { id: call['id'], name, args: (typeof text === 'string' ? tryParseLossless(text) : text) ?? {} };
  });
  return { role, content: content ?? '', ...(calls.length > 0 && { tool_calls: calls }) };
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
  if (Object.keys(replace ?? {}).some((key) => key !== 'messages')) return undefined;
  const messages = sent.map((message, at) => withChanges(message, changed[at]));
  if (messages.includes(undefined)) return undefined;
  const { model, tools, options } = params;
  return { model, messages, tools, options };
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

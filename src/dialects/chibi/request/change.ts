import { isObject, Json } from '../../../base/json/json.ts';
import { elementsOf, memberOf, scanMembers } from '../../../base/json/scan.ts';
import { malformed } from '../../body.ts';

/** A call in a message of a request body; `args` is the text that the model wrote. */
interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
}

/** A message of a request body, and the text that it was read from. */
export interface WireMessage {
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

/** The members that a plugin gave in `request_body`; others are absent. */
interface BodyChange {
  readonly model?: string;
  readonly messages?: readonly WireMessage[];
  readonly tools?: readonly WireTool[];
  /** Null takes the option away. */
  readonly max_tokens?: Json | null;
  readonly temperature?: Json | null;
}

/**
 * Reads the changes of a request body; members that are not ours to change are passed over. Throws REPLY_MALFORMED
 * for a member of the wrong shape: it may have been meant to hide something.
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

import { isUtf8 } from 'node:buffer';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../base/json/depth.ts';
import { isObject, parseLossless } from '../base/json/json.ts';
import { isJson, wordJsonError } from '../base/json/parse.ts';
import { memberOf, scanMembers } from '../base/json/scan.ts';
import { JsonTokens } from '../base/json/tokens.ts';

export const rpcCodes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
} as const;

export interface ErrorReply {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

export type ReadMessage =
  | { readonly kind: 'message'; readonly message: JSONRPCMessage }
  | { readonly kind: 'refused'; readonly reply: ErrorReply };

/** Like `checkMessage`; `argumentsOf` finds the exact text of a call's arguments. */
export function readMessage(bytes: Uint8Array): ReadMessage {
  const checked = checkMessage(bytes);
  if (checked.kind === 'refused') return checked;
  return { kind: 'message', message: withArguments(checked.members, checked.text) };
}

export type CheckedMessage =
  | {
      readonly kind: 'message';
      readonly text: string;
      readonly members: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'refused'; readonly reply: ErrorReply };

/** Reads and checks one message. Numbers that a double cannot hold keep their digits. Never throws. */
export function checkMessage(bytes: Uint8Array): CheckedMessage {
  if (!isUtf8(bytes)) return refuse(null, rpcCodes.parse, 'the message is not UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().trim();
  if (isTextTooDeep(text))
    return refuse(null, rpcCodes.request, `the message is nested deeper than ${MAX_JSON_DEPTH} levels`);
  let members: unknown;
  try {
    members = parseLossless(text);
  } catch (error) {
    return refuse(null, rpcCodes.parse, `the message is not JSON: ${wordJsonError(error, text)}`);
  }
  if (Array.isArray(members))
    return refuse(null, rpcCodes.request, 'batches are not supported; send each message by itself');
  if (!isObject(members)) return refuse(null, rpcCodes.request, 'the message must be a JSON object');
  const id = isId(members['id']) ? members['id'] : null;
  const fault = faultOf(members);
  if (fault !== undefined) return refuse(id, fault.code, fault.message);
  return { kind: 'message', text, members };
}

export function refuse(
  id: ErrorReply['id'],
  code: number,
  message: string,
): { readonly kind: 'refused'; readonly reply: ErrorReply } {
  return { kind: 'refused', reply: { jsonrpc: '2.0', id, error: { code, message } } };
}

interface Fault {
  readonly code: number;
  readonly message: string;
}

function faultOf(message: Readonly<Record<string, unknown>>): Fault | undefined {
  const { jsonrpc, id, method, params } = message;
  const invalid = (text: string) => ({ code: rpcCodes.request, message: text });
  if (jsonrpc !== '2.0') return invalid('`jsonrpc` must be "2.0"');
  if (id !== undefined && !isId(id)) return invalid('`id` must be a string, or an integer below 2^53');
  if (method === undefined && ('result' in message || 'error' in message)) return undefined;
  if (typeof method !== 'string') return invalid('`method` must be a string');
  if (params === undefined) return method === 'tools/call' ? wrongType('params', 'an object') : undefined;
  if (!isObject(params)) return wrongType('params', 'an object');
  for (const { of, path, isRight, words } of memberTypes) {
    if (of !== undefined && of !== method) continue;
    const value = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), params);
    if (!isRight(value)) return wrongType(['params', ...path].join('.'), words);
  }
  return undefined;
}

function wrongType(path: string, words: string): Fault {
  return { code: rpcCodes.params, message: `\`${path}\` must be ${words}` };
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

const isOptional = (isRight: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || isRight(value);

/** The types that the handlers and the SDK require. Without `of`: in every request and notification. */
const memberTypes: readonly {
  readonly of?: string;
  readonly path: readonly string[];
  readonly isRight: (value: unknown) => boolean;
  readonly words: string;
}[] = [
  { path: ['_meta'], isRight: isOptional(isObject), words: 'an object' },
  {
    path: ['_meta', 'progressToken'],
    isRight: isOptional(isId),
    words: 'a string, or an integer below 2^53',
  },
  {
    of: 'tools/call',
    path: ['name'],
    isRight: (value) => typeof value === 'string',
    words: 'a string',
  },
  { of: 'tools/call', path: ['arguments'], isRight: isOptional(isObject), words: 'an object' },
  {
    of: 'tools/list',
    path: ['cursor'],
    isRight: isOptional((value) => typeof value === 'string'),
    words: 'a string',
  },
];

/** The member of `_meta` that carries the text of the arguments to the handler. */
const argumentsKey = 'signalbox/arguments';

/** The SDK copies the arguments, which drops keys such as `__proto__`; a string passes unchanged. */
function withArguments(message: Readonly<Record<string, unknown>>, text: string): JSONRPCMessage {
  const { method, params } = message;
  if (method !== 'tools/call' || !isObject(params)) return message as JSONRPCMessage;
  const whole = memberOf(text, scanMembers(text), 'params');
  const given = whole && memberOf(whole.text, scanMembers(whole.text), 'arguments');
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const carried: Readonly<Record<string, unknown>> = {
    ...message,
    params: { ...params, _meta: { ...meta, [argumentsKey]: given?.text ?? '{}' } },
  };
  return carried as JSONRPCMessage;
}

/** The arguments of a call as JSON text, byte for byte as the client sent them. */
export function argumentsOf(meta: Readonly<Record<string, unknown>> | undefined): string {
  const text = meta?.[argumentsKey];
  return typeof text === 'string' ? text : '{}';
}

/** The id of a message of which only the start and the end were kept; null if neither has it. */
export function findId(start: string, end: string): ErrorReply['id'] {
  const [, atEnd] = endingId.exec(end) ?? [];
  if (atEnd !== undefined) return toId(atEnd);
  const tokens = new JsonTokens(start);
  while (tokens.next()) {
    if (tokens.depth !== 1 || !tokens.isKey || tokens.name !== 'id') continue;
    return tokens.next() ? toId(start.slice(tokens.start, tokens.end)) : null;
  }
  return null;
}

/** `"id"` among the last members, where no bracket closes between it and the end of the message. */
const endingId =
  /[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$/;

function toId(text: string): ErrorReply['id'] {
  const value: unknown = isJson(text) ? JSON.parse(text) : null;
  return isId(value) ? value : null;
}

import { RuntimeError } from '../../base/errors.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import { checkMessage, type ErrorReply, refuse, rpcCodes } from '../messages.ts';
import { textOf, withMember } from './edit.ts';

export type Id = string | number;

/** A message with its exact text, and the exact texts of its parts. */
export type ProxyMessage =
  | {
      readonly kind: 'request';
      readonly text: string;
      readonly id: Id;
      readonly method: string;
      readonly params: string;
    }
  | {
      readonly kind: 'notification';
      readonly text: string;
      readonly method: string;
      readonly params: string;
    }
  | {
      readonly kind: 'response';
      readonly text: string;
      readonly id: Id;
      /** One of both. */
      readonly result: string | undefined;
      readonly error: string | undefined;
    };

type Kind<Name extends ProxyMessage['kind']> = ProxyMessage & { readonly kind: Name };
export type Request = Kind<'request'>;
export type Notification = Kind<'notification'>;
export type Response = Kind<'response'>;

const members = {
  request: new Set(['jsonrpc', 'id', 'method', 'params']),
  response: new Set(['jsonrpc', 'id', 'result', 'error']),
};

/**
 * Reads a message that two programs must understand in the same way: without duplicate keys, and without other members
 * than those of JSON-RPC. Never throws.
 */
export function readProxied(
  bytes: Uint8Array,
): ProxyMessage | { readonly kind: 'refused'; readonly reply: ErrorReply } {
  const checked = checkMessage(bytes);
  if (checked.kind === 'refused') return checked;
  const { text, members: given } = checked;
  const { id, method } = given as { readonly id?: Id; readonly method?: string };
  const invalid = (message: string) => refuse(id ?? null, rpcCodes.request, message);
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) return invalid(`the message has the member \`${duplicate}\` twice`);
  const known = method === undefined ? members.response : members.request;
  const unknown = Object.keys(given).find((key) => !known.has(key));
  if (unknown !== undefined) return invalid(`\`${unknown}\` is not a member of a message`);
  if (method !== undefined) {
    const params = textOf(text, 'params') ?? '{}';
    return id === undefined
      ? { kind: 'notification', text, method, params }
      : { kind: 'request', text, id, method, params };
  }
  const [result, error] = [textOf(text, 'result'), textOf(text, 'error')];
  if (id === undefined || (result === undefined) === (error === undefined))
    return invalid('a response must have an `id`, and either `result` or `error`');
  if (!(result ?? error ?? '').startsWith('{')) return invalid('`result` and `error` must be objects');
  return { kind: 'response', text, id, result, error };
}

export function errorText(id: Id, code: number, message: string): string {
  return JSON.stringify(refuse(id, code, message).reply);
}

/** An error about a whole request has no ID of its own. */
export function withId(text: string, id: Id): string {
  const message = tryParse(text);
  const isAboutAll = isObject(message) && 'error' in message && (message['id'] ?? null) === null;
  return isAboutAll ? withMember(text, 'id', JSON.stringify(id)) : text;
}

export function malformed(server: string, what: string): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', `MCP server "${server}": ${what}`);
}

/** Why requests that are open at the end of the proxy fail. */
export function stopped(): RuntimeError {
  return new RuntimeError('ABORTED', 'the proxy stops');
}

import { isObject, type Json } from '../../base/json/json.ts';
import { parseJson } from '../../base/json/parse-json.ts';
import type { SentCall } from './connection.ts';
import { textOf } from './edit.ts';
import type { ProxyMessage } from './message.ts';

/** Headers of a client that go to the upstream. Its credentials, cookies and addresses do not. */
const toServer = [
  ...['accept', 'mcp-protocol-version', 'mcp-session-id', 'last-event-id'],
  ...['traceparent', 'tracestate', 'baggage'],
];
/** Headers of an upstream that go to the client. Its challenges do not: they concern the credentials of Signalbox. */
const toClient = ['mcp-session-id', 'cache-control', 'retry-after', 'allow'];

export function headersToClient(headers: Headers, type: string): Headers {
  return withType(pick(headers, toClient), type);
}

/** The type of what the proxy itself writes: UTF-8, whatever charset the other side names for its own text. */
function withType(headers: Headers, type: string): Headers {
  headers.set('content-type', type);
  return headers;
}

function pick(headers: Headers, names: readonly string[]): Headers {
  return new Headers(names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])));
}

/** The headers with which a message goes to the upstream: `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` say what it says. */
export function headersToServer(given: Headers, message?: ProxyMessage, call?: SentCall): Headers {
  const headers = pick(given, toServer);
  // A session belongs to one caller. Without one, the ID could name the stream of any caller.
  if (!headers.has('mcp-session-id')) headers.delete('last-event-id');
  if (message === undefined) return headers;
  withType(headers, 'application/json');
  if (message.kind === 'response') return headers;
  for (const [name, value] of Object.entries(mirrored(message)))
    if (given.has(name)) headers.set(name, value);
  // Only clients of 2026 send them.
  if (given.has('mcp-method') && call !== undefined)
    for (const [name, value] of paramHeaders(call.definition, call.args)) headers.set(name, value);
  return headers;
}

/**
 * The first header that says something other than the message, or that a client of 2026 left out. An upstream could
 * believe either.
 */
export function findMismatch(given: Headers, message: ProxyMessage, call?: SentCall): string | undefined {
  if (message.kind === 'response') return undefined;
  const names = Object.entries(mirrored(message)).filter(([name]) => given.has(name));
  const params =
    given.has('mcp-method') && call !== undefined ? paramHeaders(call.definition, call.given) : [];
  const found = [...names, ...params].find(
    ([name, value]) => decode(value) !== decode(given.get(name) ?? ''),
  );
  return found?.[0];
}

function mirrored({
  method,
  params,
}: {
  readonly method: string;
  readonly params: string;
}): Record<string, string> {
  const [area = ''] = method.split('/');
  const named = textOf(params, { resources: 'uri', tasks: 'taskId' }[area] ?? 'name');
  const name: unknown = named === undefined ? undefined : JSON.parse(named);
  return { 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': encode(name) }) };
}

/** `Mcp-Param-*` of a call, by the members of the input schema that have `x-mcp-header`. */
export function paramHeaders(definition: Json, args: string): [string, string][] {
  const walk = (declared: unknown, value: unknown): [string, string][] => {
    const properties = isObject(declared) && isObject(declared['properties']) ? declared['properties'] : {};
    return Object.entries(properties).flatMap(([key, property]) => {
      const given = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      const header = isObject(property) ? property['x-mcp-header'] : undefined;
      const isPrimitive = /^(?:string|boolean|number)$/.test(typeof given);
      const own: [string, string][] =
        typeof header === 'string' && isPrimitive ? [[`mcp-param-${header}`, encode(String(given))]] : [];
      return [...own, ...walk(property, given)];
    });
  };
  const { value } = definition;
  return walk(isObject(value) ? value['inputSchema'] : undefined, parseJson(args));
}

/** Source: MCP 2026-07-28, "Value Encoding" of the streamable HTTP transport. */
function encode(value: string): string {
  const isPlain =
    /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

/** Text that is not valid base64 stays as it is. */
function decode(value: string): string {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value.trim()) ?? [];
  const bytes = Buffer.from(encoded ?? '', 'base64');
  return encoded === undefined || bytes.toString('base64') !== encoded ? value.trim() : bytes.toString();
}

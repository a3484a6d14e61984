import type { ServerResponse } from 'node:http';
import { isObject } from '../../../src/base/json/json.ts';
import { type SeenRequest, startUpstream, type UpstreamServer } from '../upstream-server.ts';
import { tellMessage } from './message-events.ts';

type Members = Readonly<Record<string, unknown>>;

export type MessagesReply =
  | { readonly message: Members }
  | { readonly status: number; readonly error: Members; readonly headers?: Record<string, string> }
  /** The raw text of a stream that stays open. */
  | { readonly open: string }
  | { readonly stream: string };

export function message(content: readonly Members[], more: Members = {}): Members {
  return {
    ...{ id: 'msg_01XFDUDYJgAACzvnptvVoYEL', type: 'message', role: 'assistant', model: 'claude-test' },
    content,
    ...{ stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
    usage: {
      ...{ input_tokens: 12, output_tokens: 34, cache_creation_input_tokens: 0 },
      ...{ cache_read_input_tokens: 5, service_tier: 'standard' },
    },
    ...more,
  };
}

export function text(said: string, citations: readonly Members[] | null = null): Members {
  return { type: 'text', text: said, citations };
}

/** An upstream with Anthropic's Messages API. `reply` gets each request and the number of earlier ones. */
export async function startMessagesUpstream(
  reply: (body: Members, count: number) => MessagesReply,
): Promise<UpstreamServer> {
  let count = 0;
  return await startUpstream((request, response) => {
    const body: unknown = JSON.parse(request.body === '' ? '{}' : request.body);
    const given = isObject(body) ? body : {};
    if (request.url.startsWith('/v1/messages/count_tokens'))
      return sendJson(response, 200, { input_tokens: 42 });
    if (!/^\/v1\/messages(?:\?|$)/.test(request.url)) return sendJson(response, 404, notFound(request));
    send(response, reply(given, count++), given['stream'] === true);
  });
}

function send(response: ServerResponse, reply: MessagesReply, isStream: boolean): void {
  if ('status' in reply) {
    sendJson(response, reply.status, reply.error, reply.headers);
    return;
  }
  if ('message' in reply && !isStream) {
    sendJson(response, 200, reply.message);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...ids });
  if ('open' in reply) response.write(reply.open);
  else
    response.end(
      'stream' in reply ? reply.stream : tellMessage(reply.message, { cut: cutWords, hasPings: true }),
    );
}

const ids = { 'request-id': 'req_011CSHoEeqs5C35K2UUqR7Fy', 'anthropic-organization-id': 'org-1' };

function sendJson(
  response: ServerResponse,
  status: number,
  body: Members,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...ids, ...headers });
  response.end(JSON.stringify(body));
}

function cutWords(said: string): string[] {
  return said.match(/\S+\s*|\s+/g) ?? [];
}

function notFound({ url }: SeenRequest): Members {
  return { type: 'error', error: { type: 'not_found_error', message: `no ${url}` } };
}

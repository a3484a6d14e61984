import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { readAtMost } from '../base/text/bytes.ts';
import type { Callers } from '../runtime/runtime.ts';
import { readMessage, refuse, rpcCodes } from './messages.ts';
import type { Sdk } from './sdk.ts';
import { toAuthInfo } from './server.ts';

export interface HttpParts {
  readonly sdk: Sdk;
  readonly handler: Pick<McpHttpHandler, 'fetch'>;
  readonly maxBytes: number;
  readonly callers: Callers;
}

export const endpoint = '/mcp';

/** Serves `POST /mcp`. Everything else is refused with a JSON-RPC error and the status that fits. */
export function httpHandler(parts: HttpParts): (request: Request) => Promise<Response> {
  const { sdk, handler, maxBytes, callers } = parts;
  return async (request) => {
    const caller = await callers.admit(request, ['tools:call']);
    if (caller instanceof Response) return caller;
    const { pathname } = new URL(request.url);
    if (pathname !== endpoint) return refusal(404, rpcCodes.request, `there is only POST ${endpoint} here`);
    if (request.method !== 'POST')
      return refusal(405, rpcCodes.request, `send messages with POST, not ${request.method}`, {
        allow: 'POST',
      });
    if (!sdk.isJsonContentType(request.headers.get('content-type')))
      return refusal(415, rpcCodes.request, 'the content-type must be application/json');
    const body = await readBody(request, maxBytes);
    if (body === undefined)
      return refusal(413, rpcCodes.request, `the body is longer than ${maxBytes} bytes (max_message_bytes)`);
    const read = readMessage(body);
    if (read.kind === 'refused') return Response.json(read.reply, { status: 400 });
    return await handler.fetch(request, { parsedBody: read.message, authInfo: toAuthInfo(caller) });
  };
}

export function refusal(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json(refuse(null, code, message).reply, { status, headers });
}

/** Undefined if the body is too long. */
export async function readBody(
  request: Pick<Request, 'headers' | 'body'>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length')) > maxBytes) return undefined;
  return await readAtMost(request.body ?? [], maxBytes);
}

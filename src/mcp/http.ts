import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server';
import { isLoopbackName } from '../base/text/url.ts';
import { readMessage, refuse, rpcCodes } from './messages.ts';
import type { Sdk } from './server.ts';

export interface HttpParts {
  readonly sdk: Sdk;
  readonly handler: Pick<McpHttpHandler, 'fetch'>;
  readonly maxBytes: number;
  /** The address of the server, once it listens. */
  readonly address: () => { readonly host: string; readonly port: number };
  /** Who sends the request, or the response that refuses it. */
  readonly authorize: (request: Request) => Promise<AuthInfo | Response>;
}

export const endpoint = '/mcp';

/** Serves `POST /mcp`. Everything else is refused with a JSON-RPC error and the status that fits. */
export function httpHandler(parts: HttpParts): (request: Request) => Promise<Response> {
  const { sdk, handler, maxBytes, authorize } = parts;
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname !== endpoint) return refusal(404, rpcCodes.request, `there is only POST ${endpoint} here`);
    const stranger = foreignPage(request, parts.address());
    if (stranger !== undefined) return refusal(403, rpcCodes.request, stranger);
    const caller = await authorize(request);
    if (caller instanceof Response) return caller;
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
    return await handler.fetch(request, { parsedBody: read.message, authInfo: caller });
  };
}

function refusal(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json(refuse(null, code, message).reply, { status, headers });
}

/**
 * On loopback, pages of a browser could reach the server under a name of their own (DNS rebinding). So the Host header
 * must name this address, and an Origin must be this server. Beyond loopback, every request needs a credential.
 */
function foreignPage(
  { headers }: Request,
  { host, port }: { readonly host: string; readonly port: number },
): string | undefined {
  const hosts = ['localhost', '127.0.0.1', '[::1]', host.includes(':') ? `[${host}]` : host].map(
    (name) => `${name}:${port}`,
  );
  const named = headers.get('host')?.toLowerCase() ?? '';
  if (isLoopbackName(host) && !hosts.includes(named))
    return `the Host header must be ${hosts[1]}, not ${JSON.stringify(named)}`;
  const origin = headers.get('origin');
  if (origin === null || URL.parse(origin)?.host === named) return undefined;
  return `requests of the page ${JSON.stringify(origin)} are not allowed`;
}

/** Undefined if the body is too long. */
async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length')) > maxBytes) return undefined;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request.body ?? []) {
    bytes += part.byteLength;
    if (bytes > maxBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

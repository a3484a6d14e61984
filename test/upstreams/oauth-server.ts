import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface OAuthServer {
  readonly origin: string;
  readonly url: string;
  /** Method and path of each request, with the parameters of tokens. */
  readonly requests: {
    readonly what: string;
    readonly params: URLSearchParams;
    readonly authorization: string | undefined;
  }[];
  /** Makes all access tokens invalid. */
  expire(): void;
  /** Replaces members of the two documents of metadata. */
  readonly resource: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
  /** Parameters that the login page adds to its answer, or that replace others. */
  readonly answer: Record<string, string>;
  /** The message of the error that answers calls. */
  refusal: ((authorization: string) => string) | undefined;
  /** The next access token that it gives. */
  readonly tokens: string[];
}

/** An MCP server of 2025 with one tool, and its authorization server, at one loopback port until the test ends. */
export async function openOAuthServer(): Promise<OAuthServer> {
  const codes = new Map<string, URLSearchParams>();
  const valid = new Set<string>();
  const refreshable = new Set<string>();
  const made: OAuthServer = {
    ...{
      origin: '',
      url: '',
      requests: [],
      resource: {},
      metadata: {},
      answer: {},
      refusal: undefined,
      tokens: [],
    },
    expire: () => valid.clear(),
  };
  const issue = (isRefreshable: boolean) => {
    const [access_token, refresh_token] = [
      `access-${randomBytes(9).toString('hex')}`,
      `refresh-${randomBytes(9).toString('hex')}`,
    ];
    valid.add(access_token);
    made.tokens.push(access_token);
    if (isRefreshable) refreshable.add(refresh_token);
    return {
      access_token,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'read',
      ...(isRefreshable && { refresh_token }),
    };
  };
  const grant = (params: URLSearchParams) => {
    if (params.get('grant_type') === 'client_credentials') return issue(false);
    if (params.get('grant_type') === 'refresh_token')
      return refreshable.delete(params.get('refresh_token') ?? '') && issue(true);
    const asked = codes.get(params.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(params.get('code_verifier') ?? '')
      .digest('base64url');
    codes.delete(params.get('code') ?? '');
    return asked?.get('code_challenge') === challenge && issue(true);
  };
  const answer = async (
    request: IncomingMessage,
  ): Promise<{ status?: number; headers?: Record<string, string>; json?: unknown; text?: string }> => {
    const url = new URL(request.url ?? '', made.origin);
    const body = await text(request);
    const params = url.pathname === '/token' ? new URLSearchParams(body) : url.searchParams;
    const { authorization } = request.headers;
    made.requests.push({ what: `${request.method} ${url.pathname}`, params, authorization });
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return { json: { resource: made.url, authorization_servers: [made.origin], ...made.resource } };
      case '/.well-known/oauth-authorization-server':
        return {
          json: {
            ...{
              issuer: made.origin,
              response_types_supported: ['code'],
              code_challenge_methods_supported: ['S256'],
            },
            ...{ authorization_endpoint: `${made.origin}/authorize`, token_endpoint: `${made.origin}/token` },
            ...{
              registration_endpoint: `${made.origin}/register`,
              authorization_response_iss_parameter_supported: true,
            },
            ...made.metadata,
          },
        };
      case '/register':
        return {
          status: 201,
          json: { ...JSON.parse(body), client_id: `client-${randomBytes(4).toString('hex')}` },
        };
      case '/authorize': {
        const code = randomBytes(9).toString('hex');
        codes.set(code, params);
        const given = { code, state: params.get('state') ?? '', iss: made.origin, ...made.answer };
        const back = new URL(params.get('redirect_uri') ?? '');
        for (const [key, value] of Object.entries(given)) back.searchParams.set(key, value);
        return { status: 302, headers: { location: back.href } };
      }
      case '/token': {
        const tokens = grant(params);
        return tokens === false ? { status: 400, json: { error: 'invalid_grant' } } : { json: tokens };
      }
      default:
    }
    if (!valid.has(authorization?.replace('Bearer ', '') ?? '')) {
      const metadata = `${made.origin}/.well-known/oauth-protected-resource/mcp`;
      return {
        status: 401,
        headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="read"` },
        json: {},
      };
    }
    if (request.method !== 'POST') return { status: 405, text: '' };
    const message = JSON.parse(body);
    if (made.refusal !== undefined && message.method === 'tools/call') {
      const error = { code: -32000, message: made.refusal(authorization ?? '') };
      return { json: { jsonrpc: '2.0', id: message.id, error } };
    }
    const result = resultOf(message);
    if (message.id === undefined) return { status: 202, text: '' };
    if (result === undefined)
      return { json: { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'unknown' } } };
    return { json: { jsonrpc: '2.0', id: message.id, result } };
  };
  const server = createServer(async (request, response) => {
    const { status = 200, headers = {}, json, text: plain } = await answer(request);
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(plain ?? JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(made, { origin: `http://127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/mcp` });
}

function resultOf({ method }: { readonly method: string }): unknown {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'desk', version: '1' },
    };
  if (method === 'tools/list') return { tools: [{ name: 'look', inputSchema: { type: 'object' } }] };
  return method === 'tools/call' ? { content: [{ type: 'text', text: 'seen' }] } : undefined;
}

/** A browser in which a person accepts everything. Returns the text of the last page. */
export async function browse(page: string): Promise<string> {
  const { headers } = await fetch(page, { redirect: 'manual' });
  return await (await fetch(headers.get('location') ?? '')).text();
}

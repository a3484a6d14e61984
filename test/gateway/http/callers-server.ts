import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';
import type { McpConfig, StateStoreConfig } from '../../../src/config/config.ts';
import type { Scope } from '../../../src/contract/caller.ts';
import { type CallersOptions, openCallers } from '../../../src/gateway/http/callers.ts';
import { listen, toListener } from '../../../src/gateway/http/server.ts';
import { newStore, testEnv } from '../keys/open.ts';

export const issuer = 'https://id.example.com/';

/** The pairs of keys of an authorization server, by their algorithm, and of somebody else. */
export const pairs = {
  RS256: await generateKeyPair('RS256'),
  ES256: await generateKeyPair('ES256'),
  EdDSA: await generateKeyPair('EdDSA'),
};
export const strangers = await generateKeyPair('RS256');

export const jwks = {
  keys: await Promise.all(
    Object.entries(pairs).map(async ([alg, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      ...{ kid: alg, alg, use: 'sig' },
    })),
  ),
};

export interface Issuer {
  readonly url: string;
  /** What it answers: a status, headers and a body. */
  answer: { status?: number; headers?: Record<string, string>; body: string };
  fetches(): number;
}

/** Serves a set of keys until the test ends. */
export async function serveIssuer(body: string = JSON.stringify(jwks)): Promise<Issuer> {
  let count = 0;
  const served: Issuer = { url: '', answer: { body }, fetches: () => count };
  const server = createServer((request, response) => {
    count += 1;
    if (request.url === '/elsewhere') return response.end(JSON.stringify(jwks));
    const { status = 200, headers = { 'content-type': 'application/json' }, body } = served.answer;
    return response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return Object.assign(served, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks` });
}

/** An address where no server listens. */
export async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/jwks`;
}

interface Serving {
  readonly config?: Partial<Pick<McpConfig, 'publicUrl' | 'auth'>>;
  readonly store?: StateStoreConfig;
  readonly host?: string;
  readonly needed?: readonly Scope[];
  readonly now?: () => number;
  readonly bodyOf?: NonNullable<CallersOptions['bodyOf']>;
  readonly metrics?: true;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A server that answers with who sends a request, until the test ends. */
export async function serveCallers(serving: Serving = {}) {
  const { config = {}, store = newStore(), host = '127.0.0.1', needed = ['tools:call'], ...more } = serving;
  const notes: string[] = [];
  const opened = await openCallers({
    ...{ config: { auth: {}, ...config }, store, env: testEnv, host, privateHosts: [], ...more },
    report: (message) => void notes.push(message),
    url: () => `${server.url}/mcp`,
  });
  onTestFinished(async () => await opened.close());
  const listener = toListener(async (incoming) => {
    const caller = await opened.admit(incoming, needed);
    if (caller instanceof Response) return caller;
    const { id, name, scopes } = caller;
    return Response.json({
      id,
      name,
      scopes: [...scopes],
      calls: ['read_file', 'send'].filter(caller.mayCall),
    });
  });
  const limits = { headersMs: 10_000, requestMs: 10_000, idleMs: 10_000, connections: 100 };
  const generation = { listener, begin: () => () => {} };
  const server = await listen({ host, port: 0, limits, generation: () => generation });
  onTestFinished(async () => void (await server.close(0)));
  const { port } = server;
  /** Node's `fetch` refuses to send some headers. A list sends a header several times. */
  const ask = async (
    headers: Readonly<Record<string, string | string[]>> = {},
    { path = '/mcp', method = 'POST' } = {},
  ): Promise<Answered> => {
    const sent = request({ host: '127.0.0.1', port, path, method, agent: false, headers });
    const answered = new Promise<Answered>((resolve, reject) => {
      sent.on('error', reject).on('response', async (response) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await text(response) });
      });
    });
    sent.end();
    return await answered;
  };
  const bearer = async (token: string) => await ask({ authorization: `Bearer ${token}` });
  return { url: `http://127.0.0.1:${port}/mcp`, port, ask, bearer, notes };
}

/** The claims of a token that is valid at that resource. */
export function claimsFor(audience: string) {
  const at = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: audience, sub: 'mara', exp: at + 3_600, iat: at, scope: 'openid tools:call' };
}

export async function sign(
  claims: Readonly<Record<string, unknown>>,
  header: { readonly alg?: string; readonly kid?: string; readonly typ?: string } = {},
  key: CryptoKey | Uint8Array = pairs.RS256.privateKey,
): Promise<string> {
  return await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'RS256', ...header }).sign(key);
}

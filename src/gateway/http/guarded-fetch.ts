import type { ProviderConfig } from '../../config/config.ts';
import { answerCall } from '../call/answer.ts';
import { toRefusal, toRefusalReply } from '../call/reply.ts';
import { admitEverybody } from '../keys/admission.ts';
import type { GatewayServices } from '../ports.ts';
import {
  endpointNames,
  endpointPaths,
  readStream,
  toHeaderMap,
  toUpstreamRefusal,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from '../upstream/upstream.ts';
import type { EndpointName } from '../wire/codec.ts';
import { refusal } from '../wire/refusal.ts';
import { queryOf, toClientCall, toResponse } from './client-call.ts';

export type Fetch = typeof globalThis.fetch;

/** A `fetch` for SDKs. Known endpoints pass the hooks, with the SDK's address and credentials. Other calls get 404. */
export function createGuardedFetch(services: GatewayServices, inner: Fetch): Fetch {
  const admission = admitEverybody();
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const endpoint = request.method === 'POST' ? endpointOf(pathname) : undefined;
    if (endpoint === undefined) return refuseRoute(services);
    try {
      const client = toClientCall(request, undefined, { endpoint, query: queryOf(request.url, endpoint) });
      const upstream = openFetchUpstream(request, inner);
      const modelOf = (_endpoint: EndpointName, name: string) => ({
        ...{ name, upstreamName: name, upstream, endpoints: new Set([endpoint]) },
        provider: providerOf(request.url),
        fallbacks: [],
      });
      const reply = await answerCall(client, { ...services, admission, modelOf });
      request.signal.throwIfAborted();
      return toResponse(reply);
    } catch (thrown) {
      request.signal.throwIfAborted();
      return toResponse(toRefusalReply(services.codecs[endpoint], toRefusal(thrown)));
    }
  };
}

/** Matches the end of the path, because base paths differ between APIs. */
function endpointOf(pathname: string): EndpointName | undefined {
  return endpointNames.find((endpoint) => pathname.endsWith(endpointPaths[endpoint]));
}

function refuseRoute({ codecs }: GatewayServices): Response {
  const message = 'Hooks cannot read this call, so it is not made.';
  return toResponse(toRefusalReply(codecs.chat, refusal(404, 'not_found', message)));
}

function providerOf(url: string): ProviderConfig {
  const { host } = new URL(url);
  return {
    ...{
      id: host,
      type: 'fetch',
      model: '',
      headers: {},
      credential: {},
      defaults: {},
      additionalConfig: {},
    },
    position: { file: '', line: 0, column: 0 },
  };
}

function openFetchUpstream({ url, headers }: Request, inner: Fetch): Upstream {
  const own = new Headers(headers);
  own.delete('content-length');
  // The body was decompressed for the hooks and is sent that way.
  own.delete('content-encoding');
  own.set('accept-encoding', 'identity');
  const { host } = new URL(url);
  return {
    send: async (request) => await sendByFetch(url, own, { request, inner, host }),
    findFault: async () => undefined,
    close: async () => {},
  };
}

async function sendByFetch(
  url: string,
  headers: Headers,
  {
    request: { body, signal },
    inner,
    host,
  }: { readonly request: UpstreamRequest; readonly inner: Fetch; readonly host: string },
): Promise<UpstreamAnswer> {
  try {
    const bytes = typeof body === 'string' ? body : new Uint8Array(body);
    const answer = await inner(url, { method: 'POST', headers, body: bytes, signal, redirect: 'manual' });
    const stream = answer.body;
    return {
      status: answer.status,
      headers: withoutEncoding(toHeaderMap(answer.headers)),
      body: readStream(stream ?? [], host, signal),
      discard: () => void stream?.cancel().catch(() => {}),
    };
  } catch (thrown) {
    signal.throwIfAborted();
    throw toUpstreamRefusal(thrown instanceof Error ? (thrown.cause ?? thrown) : thrown, host);
  }
}

/** `fetch` has already decoded the body. */
function withoutEncoding({ 'content-encoding': _, ...headers }: Readonly<Record<string, string>>) {
  return headers;
}

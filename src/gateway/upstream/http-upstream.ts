import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { toRuntimeError } from '../../base/errors.ts';
import { startTimer } from '../../base/time/deadline.ts';
import { once } from '../../base/time/once.ts';
import type { GatewayLimits, ProviderConfig } from '../../config/config.ts';
import { type HttpAccess, readAccess } from '../../models/open/http-model.ts';
import { providerKinds } from '../../models/open/provider-kinds.ts';
import type { HostEnv } from '../../process/env.ts';
import { endpointPaths } from '../wire/endpoints.ts';
import { RefusedCall } from '../wire/refusal.ts';
import { readStream, toUpstreamRefusal } from './failures.ts';
import type { ClientHeaders } from './headers.ts';
import { isAnthropic } from './provider-types.ts';
import type { HeaderMap, Upstream, UpstreamAnswer, UpstreamRequest } from './upstream.ts';

export interface HttpUpstreamContext {
  readonly env: HostEnv;
  /** The config file's folder. */
  readonly folder: string;
  readonly limits: Pick<GatewayLimits, 'upstreamMs' | 'idleMs' | 'answerMs'>;
  /** Whether clients bring their own credentials, so that the provider needs none. */
  readonly passesThrough: boolean;
  /** Told of the API's key, which no log may show. */
  readonly addSecrets: (secrets: readonly string[]) => void;
}

/** The API of a provider, called over a pool of connections; its key is read with the first call. */
export function openHttpUpstream(config: ProviderConfig, context: HttpUpstreamContext): Upstream {
  const opened = once(async () => await openTarget(config, context));
  return {
    send: async (request) => await send(config.id, await openOrRefuse(opened.open, config.id), request),
    findFault: async () =>
      await opened.open().then(
        () => undefined,
        (thrown: unknown) => toRuntimeError(thrown).message,
      ),
    close: async () => await (await opened.opened())?.pool.destroy(),
  };
}

interface Target {
  readonly pool: Pool;
  readonly basePath: string;
  /** Of the provider: its credential, and what its entry adds. */
  readonly headers: HeaderMap;
  /** For the rest of an answer. */
  readonly answerMs: number;
}

async function openTarget(config: ProviderConfig, context: HttpUpstreamContext): Promise<Target> {
  const kind = providerKinds.get(config.type);
  if (kind === undefined) throw new Error(`no kind ${config.type}`);
  const { passesThrough, limits, addSecrets } = context;
  const access = await readAccess(config, { ...kind, needsKey: kind.needsKey && !passesThrough }, context);
  addSecrets(access.secrets);
  const url = new URL(baseUrlOf(config, access));
  const pool = new Pool(url.origin, {
    headersTimeout: config.requestTimeoutMs ?? limits.upstreamMs,
    bodyTimeout: config.streams?.idleMs ?? limits.idleMs,
    connect: { timeout: 10_000 },
    keepAliveTimeout: 30_000,
  });
  const basePath = url.pathname.replace(/\/$/, '');
  return { pool, basePath, headers: headersOf(config, access), answerMs: limits.answerMs };
}

async function openOrRefuse(open: () => Promise<Target>, id: string): Promise<Target> {
  try {
    return await open();
  } catch (thrown) {
    const message = `Provider "${id}" cannot be used: ${toRuntimeError(thrown).message}`;
    throw new RefusedCall({ status: 503, code: 'provider_unusable', message, isRetryable: false }, thrown);
  }
}

/** Anthropic's SDK reads an address without the version's path, ours with it; both are meant by either. */
function baseUrlOf({ type }: ProviderConfig, { baseUrl }: HttpAccess): string {
  if (!isAnthropic(type) || /\/v\d+$/.test(baseUrl)) return baseUrl;
  return `${baseUrl}/v1`;
}

function headersOf({ type }: ProviderConfig, { apiKey, headers }: HttpAccess): HeaderMap {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (apiKey === undefined) return own;
  const credential: HeaderMap = isAnthropic(type)
    ? { 'x-api-key': apiKey }
    : { authorization: `Bearer ${apiKey}` };
  return { ...credential, ...own };
}

async function send(id: string, target: Target, request: UpstreamRequest): Promise<UpstreamAnswer> {
  const { endpoint, query, headers, body, signal } = request;
  try {
    const {
      statusCode,
      headers: answered,
      body: stream,
    } = await target.pool.request({
      method: 'POST',
      path: target.basePath + endpointPaths[endpoint] + query,
      headers: { ...withoutReplaced(headers, target.headers), ...fixedHeaders },
      body,
      signal,
    });
    endInTime(stream, target.answerMs);
    return {
      status: statusCode,
      headers: flatten(answered),
      body: readStream(stream, id, signal),
      discard: () => void stream.destroy(),
    };
  } catch (thrown) {
    signal.throwIfAborted();
    throw toUpstreamRefusal(thrown, id);
  }
}

/** A stream that never ends, however often it says something, must not hold its client for ever. */
function endInTime(stream: Readable, timeoutMs: number): void {
  const timer = startTimer({ timeoutMs }, () => {
    const error = new Error(`the answer was not whole within ${timeoutMs} ms`);
    stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  });
  stream.on('error', () => {}).once('close', () => timer.clear());
}

const fixedHeaders: HeaderMap = {
  'content-type': 'application/json',
  // Bodies are read as they come.
  'accept-encoding': 'identity',
};

/** A credential that the client passes through takes the place of the provider's, whichever header either is in. */
function withoutReplaced(client: HeaderMap, own: HeaderMap): HeaderMap {
  if (client['authorization'] === undefined && client['x-api-key'] === undefined)
    return { ...client, ...own };
  const { authorization: _, 'x-api-key': __, ...rest } = own;
  return { ...rest, ...client };
}

function flatten(headers: ClientHeaders): HeaderMap {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') flat[name] = value;
  }
  return flat;
}

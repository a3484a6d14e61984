import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { once, whenAborted } from '../../base/time/async.ts';
import { startTimer } from '../../base/time/deadline.ts';
import type {
  GatewayConfig,
  GatewayLimits,
  GatewayModelConfig,
  ProviderConfig,
} from '../../config/config.ts';
import { gatewayApiOf } from '../../config/provider-types.ts';
import { startCallDeadline } from '../../models/open/call-deadline.ts';
import { type HttpAccess, readAccess } from '../../models/open/http-model.ts';
import { replaceMock } from '../../models/open/mock-replacement.ts';
import { providerKinds } from '../../models/open/provider-kinds.ts';
import { readRetryAfter } from '../../models/provider-error.ts';
import type { RateQueue, StreamLimits, Turn } from '../../models/rate/rate-queue.ts';
import type { HostEnv } from '../../process/env.ts';
import type { ClientHeaders, EndpointCodec, EndpointName } from '../wire/codec.ts';
import { RefusedCall, refusal } from '../wire/refusal.ts';
import { openMockUpstream } from './mock-upstream.ts';
import {
  endpointPaths,
  type HeaderMap,
  type OfferedModel,
  readStream,
  toUpstreamRefusal,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from './upstream.ts';

interface OfferContext {
  readonly env: HostEnv;
  readonly folder: string;
  readonly config: GatewayConfig;
  readonly codecs: Readonly<Record<EndpointName, EndpointCodec>>;
  readonly addSecrets: (secrets: readonly string[]) => void;
  readonly rateOf: (provider: ProviderConfig) => RateQueue | undefined;
  readonly streamsOf: (provider: ProviderConfig) => StreamLimits | undefined;
}

export interface Offer {
  readonly models: readonly OfferedModel[];
  /** Providers without a usable endpoint, or excluded by the config. */
  readonly left: readonly { readonly provider: string; readonly why: string }[];
  /** Closes all connections. Never rejects. */
  close(): Promise<void>;
}

/** Returns the config's models by the names that clients use. Reads and sends nothing before the first call. */
export function offerModels(providers: readonly ProviderConfig[], context: OfferContext): Offer {
  const { config, env } = context;
  const upstreams = new Map<string, Upstream>();
  const usable = new Map<string, ProviderConfig>();
  const left: { readonly provider: string; readonly why: string }[] = [];
  for (const declared of providers) {
    const provider = replaceMock(declared, env);
    const why = whyLeft(provider);
    if (why !== undefined) left.push({ provider: provider.id, why });
    else {
      usable.set(provider.id, provider);
      upstreams.set(provider.id, openLimited(provider, context));
    }
  }
  const named =
    config.models ?? [...usable.values()].map(({ id, model }) => ({ name: model, provider: id, model }));
  const offerOne = ({ name, provider: id, model }: GatewayModelConfig): OfferedModel[] => {
    const provider = usable.get(id);
    const upstream = upstreams.get(id);
    if (provider === undefined || upstream === undefined) return [];
    const endpoints = endpointsOf(provider);
    return [{ ...{ name, provider, endpoints, upstream }, upstreamName: model, fallbacks: [] }];
  };
  const models = named.flatMap(offerOne).map((model): OfferedModel => {
    const own = (model.provider.fallback ?? []).flatMap((id) =>
      offerOne({ name: model.name, provider: id, model: usable.get(id)?.model ?? '' }),
    );
    return { ...model, fallbacks: config.passThrough.length > 0 ? [] : own.filter(speaksLike(model)) };
  });
  const close = async () => {
    await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
  };
  return { models, left, close };
}

function openLimited(provider: ProviderConfig, context: OfferContext): Upstream {
  const upstream = openUpstream(provider, context);
  const rate = context.rateOf(provider);
  const streams = provider.streams?.maxConcurrent === undefined ? undefined : context.streamsOf(provider);
  const waitMs = provider.requestTimeoutMs ?? context.config.limits.upstreamMs;
  const rated =
    rate === undefined
      ? upstream
      : limitUpstream(upstream, {
          ...{ provider: provider.id, rate, maxTokens: provider.defaults.maxTokens, waitMs },
        });
  return streams === undefined ? rated : limitStreams(rated, { provider: provider.id, streams, waitMs });
}

function openUpstream(
  provider: ProviderConfig,
  { env, folder, config, codecs, addSecrets }: OfferContext,
): Upstream {
  if (provider.type === 'mock') return openMockUpstream(provider, codecs);
  const passesThrough = config.passThrough.length > 0;
  return openHttpUpstream(provider, { env, folder, limits: config.limits, passesThrough, addSecrets });
}

function whyLeft(provider: ProviderConfig): string | undefined {
  if (provider.refused !== undefined) return provider.refused;
  if (endpointsOf(provider).size > 0) return undefined;
  return `its type ${provider.type} supports none of the endpoints`;
}

/** The gateway does not translate between APIs, so a fallback must support one of the same endpoints. */
function speaksLike({ endpoints }: OfferedModel): (other: OfferedModel) => boolean {
  return (other) => !endpoints.isDisjointFrom(other.endpoints);
}

function endpointsOf({ type, role }: ProviderConfig): ReadonlySet<EndpointName> {
  const spoken = endpointsOfType(type);
  return role === 'embedding' ? spoken.intersection(embeddingEndpoints) : spoken;
}

const embeddingEndpoints: ReadonlySet<EndpointName> = new Set(['embeddings']);

function endpointsOfType(type: string): ReadonlySet<EndpointName> {
  switch (gatewayApiOf(type)) {
    case 'OpenAI':
      return openaiEndpoints;
    case 'Anthropic':
      return anthropicEndpoints;
    case 'any':
      return allEndpoints;
    default:
      return noEndpoints;
  }
}

const openaiEndpoints: ReadonlySet<EndpointName> = new Set(['chat', 'responses', 'embeddings']);
const anthropicEndpoints: ReadonlySet<EndpointName> = new Set(['messages', 'count_tokens']);
const allEndpoints: ReadonlySet<EndpointName> = new Set([...openaiEndpoints, ...anthropicEndpoints]);
const noEndpoints: ReadonlySet<EndpointName> = new Set();

interface UpstreamLimit {
  readonly provider: string;
  readonly rate: RateQueue;
  readonly waitMs: number;
  readonly maxTokens: number | undefined;
}

function limitUpstream(upstream: Upstream, limit: UpstreamLimit): Upstream {
  return {
    ...upstream,
    send: async (request) => {
      const turn = await takeTurn(request, limit);
      const answer = await upstream.send(request);
      if (answer.status === 429) noteRefusal(turn, answer);
      return answer;
    },
  };
}

function limitStreams(
  upstream: Upstream,
  {
    provider,
    streams,
    waitMs,
  }: { readonly provider: string; readonly streams: StreamLimits; readonly waitMs: number },
): Upstream {
  return {
    ...upstream,
    send: async (request) => {
      const { endpoint, body, signal } = request;
      if (endpoint === 'embeddings' || endpoint === 'count_tokens' || !asksForStream.test(textOf(body)))
        return await upstream.send(request);
      const leave = await waitFor(provider, waitMs, signal, streams.take);
      // A client that stops reading aborts the call without closing the body.
      const forget = whenAborted(signal, leave);
      const end = () => {
        forget();
        leave();
      };
      try {
        const answer = await upstream.send(request);
        const discard = () => {
          end();
          answer.discard();
        };
        return { ...answer, body: endingWith(answer.body, end), discard };
      } catch (thrown) {
        end();
        throw thrown;
      }
    },
  };
}

/** A match elsewhere in the body only occupies a stream slot briefly. */
const asksForStream = /"stream"\s*:\s*true/;

function endingWith(body: AsyncIterable<Uint8Array>, end: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => {
      const pieces = body[Symbol.asyncIterator]();
      return {
        next: async () => {
          try {
            const next = await pieces.next();
            if (next.done === true) end();
            return next;
          } catch (thrown) {
            end();
            throw thrown;
          }
        },
        return: async () => {
          end();
          return (await pieces.return?.()) ?? { done: true, value: undefined };
        },
      };
    },
  };
}

async function takeTurn(request: UpstreamRequest, limit: UpstreamLimit): Promise<Turn> {
  const { provider, rate, waitMs } = limit;
  return await waitFor(provider, waitMs, request.signal, (signal) =>
    rate.take(estimate(request, limit), signal),
  );
}

async function waitFor<Place>(
  provider: string,
  waitMs: number,
  signal: AbortSignal,
  take: (signal: AbortSignal) => Promise<Place>,
): Promise<Place> {
  const deadline = startCallDeadline(provider, waitMs, signal);
  try {
    return await take(deadline.signal);
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message } = toRuntimeError(thrown);
    const isFull = thrown instanceof RuntimeError && code === 'PROVIDER_TIMEOUT';
    throw new RefusedCall(
      isFull
        ? refusal(429, 'provider_rate_limited', `${message}.`, { retryAfter: 1, isRetryable: true })
        : refusal(503, 'provider_unusable', `${message}.`, { isRetryable: true }),
      thrown,
    );
  } finally {
    deadline.end();
  }
}

/** Estimates four bytes per token plus the maximum output, because the actual usage is not read here. */
function estimate({ endpoint, body }: UpstreamRequest, { maxTokens }: UpstreamLimit): number {
  if (endpoint === 'count_tokens') return 0;
  const input = Math.ceil(Buffer.byteLength(body) / BYTES_PER_TOKEN);
  if (endpoint === 'embeddings') return input;
  const asked = /"max_(?:completion_|output_)?tokens"\s*:\s*(\d{1,9})/.exec(textOf(body))?.[1];
  return input + Number(asked ?? maxTokens ?? DEFAULT_OUTPUT_TOKENS);
}

function textOf(body: UpstreamRequest['body']): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString();
}

const BYTES_PER_TOKEN = 4;
const DEFAULT_OUTPUT_TOKENS = 4096;

function noteRefusal(turn: Turn, { headers }: UpstreamAnswer): void {
  turn.settle(0);
  const waitMs = readRetryAfter(headers) ?? 0;
  if (waitMs > 0) turn.hold(waitMs);
}

interface HttpUpstreamContext {
  readonly env: HostEnv;
  readonly folder: string;
  readonly limits: Pick<GatewayLimits, 'upstreamMs' | 'idleMs' | 'answerMs'>;
  /** Whether clients send their own credentials, so that the provider needs none. */
  readonly passesThrough: boolean;
  /** Registers the API key as a secret for redaction in logs. */
  readonly addSecrets: (secrets: readonly string[]) => void;
}

function openHttpUpstream(config: ProviderConfig, context: HttpUpstreamContext): Upstream {
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
  readonly headers: HeaderMap;
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
    throw new RefusedCall(refusal(503, 'provider_unusable', message), thrown);
  }
}

/** Anthropic's SDK takes a base URL without the version, this config takes one with it. Both forms work. */
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

/** Limits the total duration, because a stream that keeps sending never hits an idle timeout. */
function endInTime(stream: Readable, timeoutMs: number): void {
  const timer = startTimer({ timeoutMs }, () => {
    const error = new Error(`the answer was not complete within ${timeoutMs} ms`);
    stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  });
  stream.on('error', () => {}).once('close', () => timer.clear());
}

const fixedHeaders: HeaderMap = {
  'content-type': 'application/json',
  // Bodies are read without decompression.
  'accept-encoding': 'identity',
};

/** A passed-through credential replaces the provider's, even if it is in a different header. */
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

function isAnthropic(type: string): boolean {
  const kind = providerKinds.get(type);
  return kind !== undefined && kind === providerKinds.get('anthropic');
}

import { concatBytes } from '../../base/text/bytes.ts';
import type { GatewayConfig, ProviderConfig } from '../../config/config.ts';
import type { ClientHeaders, EndpointName } from '../wire/codec.ts';
import { type Refusal, RefusedCall, refusal } from '../wire/refusal.ts';

/** Headers by their lower-case names. */
export type HeaderMap = Readonly<Record<string, string>>;

export interface UpstreamRequest {
  readonly endpoint: EndpointName;
  /** What the client asked with behind the path, such as `?beta=true`; empty where nothing. */
  readonly query: string;
  /** Of the client, as far as they may go on. */
  readonly headers: HeaderMap;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** An answer whose body has not been read. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: HeaderMap;
  /** Its bytes, once; to leave the loop ends the call. Throws RefusedCall (502, 504) when the upstream breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the call where the body is not read. */
  discard(): void;
}

/** Where a model's calls are answered. */
export interface Upstream {
  /** Throws RefusedCall (502, 503, 504), or the signal's reason. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Why no call can be made, such as a key that is not set; undefined where one can. Asks no API. Never rejects. */
  findFault(): Promise<string | undefined>;
  /** Ends its connections. Never rejects. */
  close(): Promise<void>;
}

/** A model that the gateway offers. */
export interface OfferedModel {
  /** As clients call it. */
  readonly name: string;
  /** As its upstream calls it. */
  readonly upstreamName: string;
  readonly provider: ProviderConfig;
  readonly endpoints: ReadonlySet<EndpointName>;
  readonly upstream: Upstream;
  /** Who is asked one after another where its own upstream is at fault; each with its own model, upstream and credential. */
  readonly fallbacks: readonly OfferedModel[];
}

/** What keeps the models of a gateway from being served. */
export interface Readiness {
  /** Whether some model has a provider that can be called, or there is none. */
  readonly isServing: boolean;
  /** Why providers cannot be called, by their ids. */
  readonly faults: ReadonlyMap<string, string>;
}

/** Looks at the providers of the models and at those that stand in for them. Never rejects. */
export async function findReadiness(models: readonly OfferedModel[]): Promise<Readiness> {
  const all = models.flatMap((model) => [model, ...model.fallbacks]);
  const upstreams = new Map(all.map(({ provider, upstream }) => [provider.id, upstream]));
  const asked = [...upstreams].map(async ([id, upstream]) => [id, await upstream.findFault()] as const);
  const faults = new Map(
    (await Promise.all(asked)).flatMap(([id, why]) => (why === undefined ? [] : [[id, why]])),
  );
  return { faults, isServing: all.length === 0 || all.some(({ provider }) => !faults.has(provider.id)) };
}

/** Who may be asked for a model at an endpoint, in turn. */
export function candidatesOf(model: OfferedModel, endpoint: EndpointName): readonly OfferedModel[] {
  if (model.fallbacks.length === 0) return [model];
  return [model, ...model.fallbacks.filter(({ endpoints }) => endpoints.has(endpoint))];
}

/** Where each endpoint is below the address of an API, which ends with its version. */
export const endpointPaths: Readonly<Record<EndpointName, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  messages: '/messages',
  count_tokens: '/messages/count_tokens',
};

export const endpointNames = ['chat', 'responses', 'embeddings', 'messages', 'count_tokens'] as const;

/** Whether an endpoint is one of Anthropic's API; the others are OpenAI's. */
export function isAnthropicEndpoint(endpoint: EndpointName): boolean {
  return endpoint === 'messages' || endpoint === 'count_tokens';
}

/** Finds the model of a name at an endpoint. What it returns throws RefusedCall (404). */
export function createModelFinder(models: readonly OfferedModel[]) {
  return (endpoint: EndpointName, name: string): OfferedModel => {
    const named = models.filter((each) => each.name === name);
    const offered = named.find(({ endpoints }) => endpoints.has(endpoint));
    if (offered !== undefined) return offered;
    const shown = name.length > 128 ? `${name.slice(0, 128)}…` : name;
    const where = named.length === 0 ? 'here' : 'at this endpoint';
    throw new RefusedCall({
      ...{ status: 404, code: 'model_not_found', param: 'model', isRetryable: false },
      message: `The model ${JSON.stringify(shown)} is not offered ${where}.`,
    });
  };
}

/**
 * What of a client's headers goes upstream: the SDKs' own, the trace context, those that the config names, and credentials only
 * where they are to be passed through. Values of other than visible ASCII are left out.
 */
export function forwardedHeaders(
  headers: ClientHeaders,
  { passThrough, forwardHeaders }: Pick<GatewayConfig, 'passThrough' | 'forwardHeaders'>,
): Record<string, string> {
  const named: readonly string[] = [...passThrough, ...forwardHeaders];
  const forwarded: Record<string, string> = {};
  for (const name in headers) {
    if (!isForwarded(name) && !named.includes(name)) continue;
    const value = headers[name];
    if (typeof value === 'string' && visible.test(value)) forwarded[name] = value;
  }
  return forwarded;
}

function isForwarded(name: string): boolean {
  return ownNames.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

const ownNames: ReadonlySet<string> = new Set(['user-agent', 'traceparent', 'tracestate', 'idempotency-key']);
const prefixes = ['anthropic-', 'openai-', 'x-stainless-'];
const visible = /^[\x20-\x7e]{0,4096}$/;

/**
 * What of an upstream's headers a client gets: request ids, rate limits, figures. A header could carry what no hook has
 * seen, so values must look like an id, a number or a time.
 */
export function returnedHeaders(headers: ClientHeaders): Record<string, string> {
  const returned: Record<string, string> = {};
  for (const name in headers) {
    if (!returnedNames.has(name) && !returnedPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    const value = headers[name];
    if (typeof value === 'string' && plain.test(value)) returned[name] = value;
  }
  return returned;
}

const returnedNames: ReadonlySet<string> = new Set([
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
]);
const returnedPrefixes = ['openai-', 'anthropic-', 'x-ratelimit-'];
const plain = /^[A-Za-z0-9_.:|/+=,; -]{1,256}$/;

/** The media type of a body; undefined when it is none that a client may be told. */
export function mediaTypeOf(headers: ClientHeaders): string | undefined {
  const value = headers['content-type'];
  return typeof value === 'string' ? mediaType.exec(value)?.[1]?.toLowerCase() : undefined;
}

const mediaType = /^\s*([A-Za-z0-9.+-]{1,64}\/[A-Za-z0-9.+-]{1,64})\s*(?:;|$)/;

/** The headers of a `Headers` object. */
export function toHeaderMap(headers: Headers): HeaderMap {
  return Object.fromEntries(headers);
}

/** What a client is told of an upstream that could not be called, or broke off; never its own words. */
export function toUpstreamRefusal(thrown: unknown, provider: string): RefusedCall {
  if (thrown instanceof RefusedCall) return thrown;
  return new RefusedCall(isTimeout(thrown) ? timeout(provider) : unreachable(provider, thrown), thrown);
}

/** Whether a call failed before the upstream could have heard of it, so that it costs nothing. */
export function wasNotSent(thrown: unknown): boolean {
  if (thrown instanceof RefusedCall && unsentCodes.has(thrown.refusal.code)) return true;
  const code = systemCodeOf(thrown instanceof RefusedCall ? thrown.cause : thrown);
  return code !== undefined && unsent.has(code);
}

const unsentCodes: ReadonlySet<string> = new Set(['provider_unusable', 'provider_rate_limited']);

/** Whether a call failed because its upstream was not there, not in time or without room, as another need not be. */
export function isFaultOfUpstream(thrown: unknown): thrown is RefusedCall {
  return thrown instanceof RefusedCall && faultCodes.has(thrown.refusal.code);
}

const faultCodes: ReadonlySet<string> = new Set([
  'upstream_unreachable',
  'upstream_timeout',
  'provider_rate_limited',
]);

const unsent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** An upstream that is silent for too long. */
export function upstreamTimeout(provider: string): RefusedCall {
  return new RefusedCall(timeout(provider));
}

function timeout(provider: string): Refusal {
  return refusal(504, 'upstream_timeout', `Provider "${provider}" did not answer in time.`, {
    isRetryable: true,
  });
}

function unreachable(provider: string, thrown: unknown): Refusal {
  const code = systemCodeOf(thrown);
  return refusal(
    502,
    'upstream_unreachable',
    `Provider "${provider}" could not be reached${code === undefined ? '' : ` (${code})`}.`,
    { isRetryable: true },
  );
}

function isTimeout(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return code !== undefined && timeouts.has(code);
}

const timeouts: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);

function systemCodeOf(thrown: unknown): string | undefined {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : undefined;
}

/** The bytes of an upstream's answer. Throws RefusedCall where they end early, and what aborts the call. */
export async function* readStream(
  stream: AsyncIterable<Uint8Array> | readonly never[],
  upstream: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (thrown) {
    signal.throwIfAborted();
    throw toUpstreamRefusal(thrown, upstream);
  }
}

/** All bytes of a body. Throws what `tooLarge` gives as soon as there are more than `maxBytes`. */
export async function readAll(
  body: AsyncIterable<Uint8Array> | readonly never[],
  maxBytes: number,
  tooLarge: () => RefusedCall,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return concatBytes(chunks, length);
}

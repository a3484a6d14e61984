import { readAtMost } from '../../base/text/bytes.ts';
import type { GatewayConfig, ProviderConfig } from '../../config/config.ts';
import type { ClientHeaders, EndpointName } from '../wire/codec.ts';
import { type Refusal, RefusedCall, refusal } from '../wire/refusal.ts';

/** Headers by lower-case name. */
export type HeaderMap = Readonly<Record<string, string>>;

export interface UpstreamRequest {
  readonly endpoint: EndpointName;
  readonly query: string;
  readonly headers: HeaderMap;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: HeaderMap;
  /** The bytes, readable once. Leaving the loop ends the call. Throws RefusedCall (502, 504) if the upstream fails. */
  readonly body: AsyncIterable<Uint8Array>;
  discard(): void;
}

export interface Upstream {
  /** Throws RefusedCall (502, 503, 504) or the signal's reason. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Returns why calls are impossible, such as an unset key. Contacts no API. Never rejects. */
  findFault(): Promise<string | undefined>;
  /** Closes its connections. Never rejects. */
  close(): Promise<void>;
}

export interface OfferedModel {
  readonly name: string;
  readonly upstreamName: string;
  readonly provider: ProviderConfig;
  readonly endpoints: ReadonlySet<EndpointName>;
  readonly upstream: Upstream;
  /** The models to try in order if the upstream fails, each with its own name, upstream and credential. */
  readonly fallbacks: readonly OfferedModel[];
}

export interface Readiness {
  /** Whether some model has a usable provider, or no models are offered. */
  readonly isServing: boolean;
  readonly faults: ReadonlyMap<string, string>;
}

/** Checks the providers of all models and fallbacks. Never rejects. */
export async function findReadiness(models: readonly OfferedModel[]): Promise<Readiness> {
  const all = models.flatMap((model) => [model, ...model.fallbacks]);
  const upstreams = new Map(all.map(({ provider, upstream }) => [provider.id, upstream]));
  const asked = [...upstreams].map(async ([id, upstream]) => [id, await upstream.findFault()] as const);
  const faults = new Map(
    (await Promise.all(asked)).flatMap(([id, why]) => (why === undefined ? [] : [[id, why]])),
  );
  return { faults, isServing: all.length === 0 || all.some(({ provider }) => !faults.has(provider.id)) };
}

export function candidatesOf(model: OfferedModel, endpoint: EndpointName): readonly OfferedModel[] {
  if (model.fallbacks.length === 0) return [model];
  return [model, ...model.fallbacks.filter(({ endpoints }) => endpoints.has(endpoint))];
}

/** Paths below an API's base URL, which ends with the version. */
export const endpointPaths: Readonly<Record<EndpointName, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  messages: '/messages',
  count_tokens: '/messages/count_tokens',
};

export const endpointNames = ['chat', 'responses', 'embeddings', 'messages', 'count_tokens'] as const;

export function isAnthropicEndpoint(endpoint: EndpointName): boolean {
  return endpoint === 'messages' || endpoint === 'count_tokens';
}

/** The returned function finds a model by endpoint and name. It throws RefusedCall (404). */
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

/** Includes credentials only if passed through. Drops values with anything but visible ASCII. */
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

/** Hooks do not see headers, so values must look like an ID, a number or a time. */
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

/** Returns undefined if the header is missing or malformed. */
export function mediaTypeOf(headers: ClientHeaders): string | undefined {
  const value = headers['content-type'];
  return typeof value === 'string' ? mediaType.exec(value)?.[1]?.toLowerCase() : undefined;
}

const mediaType = /^\s*([A-Za-z0-9.+-]{1,64}\/[A-Za-z0-9.+-]{1,64})\s*(?:;|$)/;

export function toHeaderMap(headers: Headers): HeaderMap {
  return Object.fromEntries(headers);
}

/** Describes an upstream failure without quoting the upstream. */
export function toUpstreamRefusal(thrown: unknown, provider: string): RefusedCall {
  if (thrown instanceof RefusedCall) return thrown;
  return new RefusedCall(isTimeout(thrown) ? timeout(provider) : unreachable(provider, thrown), thrown);
}

/** Whether a call failed before the upstream received it, so that it costs nothing. */
export function wasNotSent(thrown: unknown): boolean {
  if (thrown instanceof RefusedCall && unsentCodes.has(thrown.refusal.code)) return true;
  const code = systemCodeOf(thrown instanceof RefusedCall ? thrown.cause : thrown);
  return code !== undefined && unsent.has(code);
}

const unsentCodes: ReadonlySet<string> = new Set(['provider_unusable', 'provider_rate_limited']);

/** Whether a call failed because the upstream was unreachable, too slow or overloaded, which a fallback may not be. */
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

/** Throws RefusedCall if the response ends early, and the reason if the call is aborted. */
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

/** Throws the error from `tooLarge` as soon as the body exceeds `maxBytes`. */
export async function readAll(
  body: AsyncIterable<Uint8Array> | readonly never[],
  maxBytes: number,
  tooLarge: () => RefusedCall,
): Promise<Uint8Array> {
  const bytes = await readAtMost(body, maxBytes);
  if (bytes === undefined) throw tooLarge();
  return bytes;
}

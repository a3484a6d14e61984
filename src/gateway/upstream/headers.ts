import type { GatewayConfig } from '../../config/config.ts';
import type { HeaderMap } from './upstream.ts';

/** Headers of a client by their lower-case names, as Node and `Headers` give them. */
export type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type { HeaderMap } from './upstream.ts';

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

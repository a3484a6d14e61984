import { type Refusal, RefusedCall } from '../wire/refusal.ts';

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
  return {
    status: 504,
    code: 'upstream_timeout',
    message: `Provider "${provider}" did not answer in time.`,
    isRetryable: true,
  };
}

function unreachable(provider: string, thrown: unknown): Refusal {
  const code = systemCodeOf(thrown);
  return {
    status: 502,
    code: 'upstream_unreachable',
    message: `Provider "${provider}" could not be reached${code === undefined ? '' : ` (${code})`}.`,
    isRetryable: true,
  };
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

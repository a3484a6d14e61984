import { RuntimeError } from '../base/errors.ts';
import { isObject } from '../base/json/json.ts';
import { createSecretHider, type SecretHider } from '../base/text/hide-secrets.ts';
import { shorten } from '../base/text/phrases.ts';

interface ApiFailure {
  readonly message: string;
  readonly status?: number | undefined;
  /** The same request may succeed a moment later. Absent: depends on the status. */
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The system's code for a connection failure that a retry does not fix, such as an unknown host. */
  readonly connection?: string | undefined;
  readonly cause?: unknown;
}

export interface Peer {
  readonly id: string;
  readonly secrets: readonly string[];
  /** Removes the runtime's other secrets, before anything is truncated. */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** Its details have `status`, `retryable`, `connection` and, if the API gives it, `retry_after_ms`. */
export function createProviderError(id: string, failure: ApiFailure): RuntimeError {
  const { message, status, retryAfterMs, connection, cause } = failure;
  const retryable = failure.retryable ?? (status !== undefined && isTransientStatus(status));
  const happened = status === undefined ? 'failed' : `failed with status ${status}`;
  return new RuntimeError(
    'PROVIDER_FAILED',
    `provider "${id}" ${happened}: ${shorten(message.replaceAll(/\s+/g, ' ').trim(), 500, 499)}`,
    {
      details: {
        ...(status === undefined ? {} : { status }),
        retryable,
        ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
        ...(connection === undefined ? {} : { connection }),
      },
      cause,
    },
  );
}

/**
 * Any thrown value becomes PROVIDER_FAILED, or PROVIDER_TIMEOUT if the network's own limits ended the call. Only
 * message and status of a package's error are kept, since it carries the whole request.
 */
export function toProviderError(thrown: unknown, peer: Peer): RuntimeError {
  const { id, secrets, scrub = (text: string) => text } = peer;
  if (thrown instanceof RuntimeError) return thrown;
  const system = findSystemError(thrown);
  if (system === undefined) {
    return createProviderError(id, {
      message: scrub(hideSecrets(messageOf(thrown), secrets)),
      status: findNumber(thrown, 'statusCode'),
      retryAfterMs: retryAfterOf(thrown),
    });
  }
  if (timeoutCodes.has(system.code)) {
    return new RuntimeError('PROVIDER_TIMEOUT', `provider "${id}" was silent for too long (${system.code})`);
  }
  return createProviderError(id, {
    message: scrub(hideSecrets(describeSystemError(system), secrets)),
    ...(transientCodes.has(system.code)
      ? { retryable: true }
      : { retryable: false, connection: system.code }),
  });
}

/** The same request may succeed after these statuses. Anthropic uses 529 for an overloaded API. */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

const transientCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Node ends a request by itself after five minutes without a byte. */
const timeoutCodes: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

function findSystemError(thrown: unknown, depth = 0): { code: string; message: string } | undefined {
  if (!(thrown instanceof Error) || depth > 5) return undefined;
  const inner = findSystemError(thrown.cause, depth + 1);
  if (inner !== undefined || !('code' in thrown) || typeof thrown.code !== 'string') return inner;
  return { code: thrown.code, message: thrown.message };
}

/** An error after attempts at two addresses has no message, only a code. */
function describeSystemError({ code, message }: { code: string; message: string }): string {
  const words = message === '' || message.includes(code) ? message : `${message} (${code})`;
  return `the connection failed: ${words === '' ? code : words}`;
}

function messageOf(thrown: unknown): string {
  if (!isObject(thrown)) return String(thrown);
  const { message, data, responseBody } = thrown;
  const own = typeof message === 'string' ? message : '';
  const body = data === undefined && typeof responseBody === 'string' ? responseBody.trim() : '';
  const words = [own, body].filter((text) => text !== '').join(': ');
  return words === '' ? (findText(thrown, 'type') ?? 'no reason was given') : words;
}

function findText(thrown: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = thrown[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function findNumber(thrown: unknown, key: string): number | undefined {
  const value = isObject(thrown) ? thrown[key] : undefined;
  return typeof value === 'number' ? value : undefined;
}

function retryAfterOf(thrown: unknown): number | undefined {
  const headers = isObject(thrown) ? thrown['responseHeaders'] : undefined;
  return isObject(headers) ? readRetryAfter(headers) : undefined;
}

/** Removes the secrets in any encoding. An API may repeat the key that it rejects. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const hider = hiders.get(secrets) ?? createSecretHider(secrets);
  hiders.set(secrets, hider);
  return hider.text(text);
}

const hiders = new WeakMap<readonly string[], SecretHider>();

/** Milliseconds, from `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
export function readRetryAfter(headers: Readonly<Record<string, unknown>>): number | undefined {
  const exact = Number.parseFloat(String(headers['retry-after-ms']));
  if (exact >= 0) return Math.round(exact);
  const text = String(headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

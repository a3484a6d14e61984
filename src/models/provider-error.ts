import { RuntimeError } from '../base/errors.ts';
import { isObject } from '../base/json/json.ts';
import { createSecretHider, type SecretHider } from '../base/text/hide-secrets.ts';
import { shorten } from '../base/text/phrases.ts';

interface ApiFailure {
  readonly message: string;
  /** The HTTP status; absent when no answer came. */
  readonly status?: number | undefined;
  /** Whether the same request may succeed a moment later; absent: as the status has it. */
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The system's code, where the connection failed by what a retry does not mend, such as a name that is not known. */
  readonly connection?: string | undefined;
  readonly cause?: unknown;
}

/** The called provider, and the secrets that no error may show. */
export interface Peer {
  readonly id: string;
  readonly secrets: readonly string[];
  /** Takes out the runtime's other secrets, before anything is truncated. */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** PROVIDER_FAILED with `status`, `retryable`, `connection` and, where the API says so, `retry_after_ms` in its details. */
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
 * Anything that a model call threw as PROVIDER_FAILED, or PROVIDER_TIMEOUT where the network's own limits ended
 * it. Of a package's error only message and status are kept, since it carries the whole request.
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

/** Statuses after which the same request may succeed. 529 is Anthropic's word for an overloaded API. */
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

/** Node ends a request of its own accord after five minutes without a byte. */
const timeoutCodes: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** The innermost error of the system or the network, in the chain of causes. */
function findSystemError(thrown: unknown, depth = 0): { code: string; message: string } | undefined {
  if (!(thrown instanceof Error) || depth > 5) return undefined;
  const inner = findSystemError(thrown.cause, depth + 1);
  if (inner !== undefined || !('code' in thrown) || typeof thrown.code !== 'string') return inner;
  return { code: thrown.code, message: thrown.message };
}

/** The message of a connection error; its code where it has no text, as after attempts at two addresses. */
function describeSystemError({ code, message }: { code: string; message: string }): string {
  const words = message === '' || message.includes(code) ? message : `${message} (${code})`;
  return `the connection failed: ${words === '' ? code : words}`;
}

function messageOf(thrown: unknown): string {
  if (!isObject(thrown)) return String(thrown);
  const { message, data, responseBody } = thrown;
  const own = typeof message === 'string' ? message : '';
  // Where the package could not read the API's error, its words are all there is.
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

/** The text without these secrets, in any encoding: an API may repeat the key that it refuses. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const hider = hiders.get(secrets) ?? createSecretHider(secrets);
  hiders.set(secrets, hider);
  return hider.text(text);
}

const hiders = new WeakMap<readonly string[], SecretHider>();

/** How long an API asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
export function readRetryAfter(headers: Readonly<Record<string, unknown>>): number | undefined {
  const exact = Number.parseFloat(String(headers['retry-after-ms']));
  if (exact >= 0) return Math.round(exact);
  const text = String(headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

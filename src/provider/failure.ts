import { RuntimeError } from '../errors.ts';
import { isObject } from '../json.ts';

/** What is known of a call that failed at the API's side. */
export interface ApiFailure {
  /** The API's own words, or the network's. */
  readonly message: string;
  /** The HTTP status; absent when no answer came. */
  readonly status?: number | undefined;
  /** Whether the same request may succeed a moment later; absent: as the status has it. */
  readonly retryable?: boolean | undefined;
  /** How long the API asks to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Who was called, and what must not be told. */
export interface Peer {
  readonly id: string;
  readonly secrets: readonly string[];
}

/** PROVIDER_FAILED with `status`, `retryable` and, where the API says so, `retry_after_ms` in its details. */
export function failedWith(id: string, failure: ApiFailure): RuntimeError {
  const { message, status, retryAfterMs, cause } = failure;
  const retryable = failure.retryable ?? (status !== undefined && isPassing(status));
  const happened = status === undefined ? 'failed' : `failed with status ${status}`;
  return new RuntimeError('PROVIDER_FAILED', `provider "${id}" ${happened}: ${shorten(message)}`, {
    details: {
      ...(status === undefined ? {} : { status }),
      retryable,
      ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    },
    cause,
  });
}

/**
 * Anything that a model call threw as PROVIDER_FAILED, or PROVIDER_TIMEOUT where the network's own limits ended
 * it. Of an error of a package nothing is kept but words and status: it carries the whole request.
 */
export function toFailure(thrown: unknown, { id, secrets }: Peer): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const code = findCode(thrown);
  if (code !== undefined && slowCodes.has(code)) {
    return new RuntimeError('PROVIDER_TIMEOUT', `provider "${id}" was silent for too long (${code})`);
  }
  const status = findNumber(thrown, 'statusCode');
  const words = hide(wordsOf(thrown, code), secrets);
  const isNetwork = status === undefined || status < 400;
  return failedWith(id, {
    message: words,
    status: isNetwork && code !== undefined ? undefined : status,
    retryable: isNetwork ? (code === undefined ? asksForRetry(thrown) : passingCodes.has(code)) : undefined,
    retryAfterMs: readRetryAfter(thrown),
  });
}

/** Statuses after which the same request may succeed. 529 is Anthropic's word for an overloaded API. */
function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

const passingCodes: ReadonlySet<string> = new Set([
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
const slowCodes: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** The code of the system's or the network's error, in the chain of causes. */
function findCode(thrown: unknown, depth = 0): string | undefined {
  if (!(thrown instanceof Error) || depth > 5) return undefined;
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
  return findCode(thrown.cause, depth + 1) ?? code;
}

function asksForRetry(thrown: unknown): boolean {
  return isObject(thrown) && thrown['isRetryable'] === true;
}

function wordsOf(thrown: unknown, code: string | undefined): string {
  if (!isObject(thrown)) return String(thrown);
  const { message, data, responseBody } = thrown;
  const own = typeof message === 'string' ? message : '';
  if (code !== undefined) return own.includes(code) ? own : `${own} (${code})`;
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

/** `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
function readRetryAfter(thrown: unknown): number | undefined {
  const headers = isObject(thrown) ? thrown['responseHeaders'] : undefined;
  if (!isObject(headers)) return undefined;
  const exact = Number.parseFloat(String(headers['retry-after-ms']));
  if (exact >= 0) return Math.round(exact);
  const text = String(headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The text without these secrets: an API may repeat the key that it refuses. */
export function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((words, secret) => words.replaceAll(secret, '[redacted]'), text);
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 500 ? `${line.slice(0, 499)}…` : line;
}

import { RuntimeError } from '../base/errors.ts';
import { readAtMost } from '../base/text/bytes.ts';
import { shorten } from '../base/text/phrases.ts';
import { decodePercent } from '../base/text/url.ts';
import { startDeadline } from '../base/time/deadline.ts';
import type { Emit } from '../contract/event.ts';
import type { Binding, HookEndpoint } from './binding.ts';
import { closedError } from './oneshot.ts';
import { type Pool, withPool } from './pool.ts';
import type { ProcessReply, Transport } from './transport.ts';
import { openFetch } from './web.ts';

export interface Endpoint {
  readonly name: string;
  readonly url: string;
  /** Values may be secret and never appear in messages. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** The path of a CA certificate file; absent: the system's certificates. */
  readonly ca?: string | undefined;
  /** Entries of `spec.private_hosts`. */
  readonly privateHosts: readonly string[];
  /** Anything other than status 200 with JSON is an error; otherwise the dialect reads the reply. */
  readonly isJsonOnly?: boolean | undefined;
}

export function openEndpoint({ name, timeoutMs, maxOutputBytes }: Limits, endpoint: HookEndpoint): Transport {
  const { ca, ...own } = endpoint;
  return openHttp({ name, ...own, ca: ca ?? undefined, timeoutMs, maxOutputBytes, isJsonOnly: true });
}

type Limits = Pick<Binding, 'name' | 'timeoutMs' | 'maxOutputBytes'>;

export function openHttpTransport(endpoint: Endpoint, pool: Pool, emit?: Emit): Transport {
  const { name } = endpoint;
  return withPool(
    openHttp(endpoint),
    { name, concurrency: Number.POSITIVE_INFINITY },
    pool,
    emit && { emit },
  );
}

/** A redirect is a reply. An unreachable endpoint is PROCESS_START. Throws CONFIG_INVALID. */
export function openHttp(endpoint: Endpoint): Transport {
  const { name } = endpoint;
  const closing = new AbortController();
  const send = openFetch({ named: endpoint.url, ...endpoint });
  return {
    exchange: async (message, signal) => {
      if (closing.signal.aborted) throw closedError(name);
      const either = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      const timeoutMs = message.timeoutMs ?? endpoint.timeoutMs;
      const deadline = startDeadline({
        name,
        timeoutMs,
        signal: either,
        createError: () => timeoutError(name, timeoutMs),
      });
      const fetchAbort = new AbortController();
      try {
        message.requireStart?.();
        return await Promise.race([
          post(endpoint, { send, body: message.body, signal: fetchAbort.signal }),
          deadline.expired,
        ]);
      } finally {
        deadline.clear();
        fetchAbort.abort();
      }
    },
    warm: () => {},
    close: async () => closing.abort(closedError(name)),
  };
}

interface Post {
  readonly send: typeof fetch;
  readonly body: string;
  readonly signal: AbortSignal;
}

async function post(endpoint: Endpoint, { send, body, signal }: Post): Promise<ProcessReply> {
  const { name, maxOutputBytes, isJsonOnly = false } = endpoint;
  const { url, headers } = createRequest(endpoint);
  try {
    const response = await send(url, { method: 'POST', headers, body, signal });
    const { status } = response;
    if (isJsonOnly) requireJson(name, status, response.headers.get('content-type'));
    const bytes = await readAtMost(response.body ?? [], maxOutputBytes);
    if (bytes === undefined) throw limitError(endpoint);
    const stdout = Buffer.from(bytes);
    // Codecs know only exit codes, so a successful HTTP reply counts as exit code 0.
    const exitCode = isJsonOnly ? 0 : null;
    return { via: 'process', exitCode, signal: null, stdout, stderr: '', httpStatus: status };
  } catch (thrown) {
    throw thrown instanceof RuntimeError ? thrown : unreachableError(name, url, thrown);
  }
}

function requireJson(name: string, status: number, contentType: string | null): void {
  const isElsewhere = status >= 300 && status < 400;
  const hint = isElsewhere ? 'Redirects are not followed: declare the url that answers.' : undefined;
  if (status !== 200)
    throw new RuntimeError('REPLY_MALFORMED', `"${name}" answered with HTTP status ${status}`, {
      hint,
      details,
    });
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) return;
  const what = type === '' ? 'without a content type' : `with ${shorten(type)}`;
  throw new RuntimeError('REPLY_MALFORMED', `"${name}" answered ${what}, not with application/json`, {
    details,
  });
}

const details = { http: true };

function limitError({ name, maxOutputBytes }: Endpoint): RuntimeError {
  const message = `"${name}" answered with more than ${maxOutputBytes} bytes`;
  return new RuntimeError('OUTPUT_LIMIT', message, { details });
}

function timeoutError(name: string, timeoutMs: number): RuntimeError {
  return new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer within ${timeoutMs} ms`, { details });
}

function unreachableError(name: string, url: URL, thrown: unknown): RuntimeError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'the connection failed';
  const hint = 'Check that the server is running and that the url is correct.';
  return new RuntimeError(
    'PROCESS_START',
    `"${name}" could not be reached at ${urlForMessages(url)}: ${code}`,
    {
      hint,
      details,
      cause: thrown,
    },
  );
}

function createRequest({ name, url: text, headers: given }: RequestTarget): {
  url: URL;
  headers: Headers;
} {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new RuntimeError('CONFIG_INVALID', `the url of "${name}" is not an http or https URL`);
  }
  const headers = new Headers({ 'content-type': 'application/json' });
  const { username, password } = url;
  if (username !== '' || password !== '')
    headers.set('authorization', basicAuthorization(username, password));
  url.username = '';
  url.password = '';
  for (const [key, value] of Object.entries(given)) setHeader(headers, { name, key, value });
  return { url, headers };
}

export function urlForMessages({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

interface RequestTarget {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** fetch rejects a URL with credentials. Source: RFC 7617. */
function basicAuthorization(username: string, password: string): string {
  const pair = `${decodePercent(username)}:${decodePercent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** The platform's error message contains the value, which may be a secret. */
function setHeader(
  headers: Headers,
  { name, key, value }: { readonly name: string; readonly key: string; readonly value: string },
): void {
  try {
    headers.set(key, value);
  } catch {
    throw new RuntimeError('CONFIG_INVALID', `the header "${key}" of "${name}" is not a valid HTTP header`);
  }
}

import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { RuntimeError } from '../base/errors.ts';
import { whyUnreadable } from '../base/files/file-error.ts';
import { shorten } from '../base/text/phrases.ts';
import { decodePercent } from '../base/text/url.ts';
import { startDeadline } from '../base/time/deadline.ts';
import type { Binding, HookEndpoint } from './binding.ts';
import { closedError } from './oneshot.ts';
import { type Pool, withPool } from './pool.ts';
import type { ProcessReply, Transport } from './transport.ts';

export interface Endpoint {
  readonly name: string;
  readonly url: string;
  /** Values may be secret and never appear in messages. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** The path of a CA certificate file; absent: the system's certificates. */
  readonly ca?: string | undefined;
  /** Anything other than status 200 with JSON is an error; otherwise the dialect reads the reply. */
  readonly isJsonOnly?: boolean | undefined;
}

export function openEndpoint({ name, timeoutMs, maxOutputBytes }: Limits, endpoint: HookEndpoint): Transport {
  const { url, headers, ca } = endpoint;
  const own = { name, url, headers, timeoutMs, maxOutputBytes, isJsonOnly: true };
  return openHttp(ca === null ? own : { ...own, ca });
}

type Limits = Pick<Binding, 'name' | 'timeoutMs' | 'maxOutputBytes'>;

export function openHttpTransport(endpoint: Endpoint, pool: Pool): Transport {
  const { name } = endpoint;
  return withPool(openHttp(endpoint), { name, concurrency: Number.POSITIVE_INFINITY }, pool);
}

/** A redirect is a reply. An unreachable endpoint is PROCESS_START. Throws CONFIG_INVALID. */
export function openHttp(endpoint: Endpoint): Transport {
  const { name } = endpoint;
  const closing = new AbortController();
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
        return await Promise.race([post(endpoint, message.body, fetchAbort.signal), deadline.expired]);
      } finally {
        deadline.clear();
        fetchAbort.abort();
      }
    },
    warm: () => {},
    close: async () => closing.abort(closedError(name)),
  };
}

async function post(endpoint: Endpoint, body: string, signal: AbortSignal): Promise<ProcessReply> {
  const { name, maxOutputBytes, ca, isJsonOnly = false } = endpoint;
  const { url, headers } = createRequest(endpoint);
  try {
    const { status, contentType, ...response } =
      ca === undefined
        ? await postTo(url, { headers, body, signal })
        : await postTrusting(url, { headers, body, signal, ca });
    if (isJsonOnly) requireJson(name, status, contentType);
    const stdout = await readBody(response, maxOutputBytes);
    if (stdout === undefined) throw limitError(endpoint);
    // Codecs know only exit codes, so a successful HTTP reply counts as exit code 0.
    const exitCode = isJsonOnly ? 0 : null;
    return { via: 'process', exitCode, signal: null, stdout, stderr: '', httpStatus: status };
  } catch (thrown) {
    throw thrown instanceof RuntimeError ? thrown : unreachableError(name, url, thrown);
  }
}

async function postTo(
  url: URL,
  asked: { readonly headers: Headers; readonly body: string; readonly signal: AbortSignal },
) {
  const response = await fetch(url, { method: 'POST', redirect: 'manual', ...asked });
  const { status, headers, body } = response;
  return { status, contentType: headers.get('content-type'), body };
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

interface AnsweredBody {
  readonly body: AsyncIterable<Uint8Array> | null;
}

async function readBody({ body }: AnsweredBody, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const details = { http: true };

function limitError({ name, maxOutputBytes }: Endpoint): RuntimeError {
  const message = `"${name}" answered with more than ${maxOutputBytes} bytes`;
  return new RuntimeError('OUTPUT_LIMIT', message, { details });
}

function timeoutError(name: string, timeoutMs: number): RuntimeError {
  return new RuntimeError('PROCESS_TIMEOUT', `"${name}" did not answer within ${timeoutMs} ms`, { details });
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
}

/** PROCESS_START, or PROCESS_TIMEOUT if fetch's built-in limit of 300 s ended the call. */
function unreachableError(name: string, url: URL, thrown: unknown): RuntimeError {
  const cause: unknown = thrown instanceof Error ? thrown.cause : undefined;
  const code = codeOf(cause) ?? codeOf(thrown) ?? 'the connection failed';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return timeoutError(name, 300_000);
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

interface TrustingPost {
  readonly headers: Headers;
  readonly body: string;
  readonly ca: string;
  readonly signal: AbortSignal;
}

/** Posts over a new connection and follows no redirect. Throws FILE_UNREADABLE and connection errors. */
async function postTrusting(url: URL, { headers, body, ca, signal }: TrustingPost) {
  const trusted = await readFile(ca).catch((cause: unknown) => {
    throw new RuntimeError('FILE_UNREADABLE', `${ca} ${whyUnreadable(cause)}`, { cause });
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const own = Object.fromEntries([...headers, ['accept-encoding', 'identity']]);
    const options = {
      method: 'POST',
      headers: own,
      ca: trusted,
      rejectUnauthorized: true,
      agent: false,
      signal,
    };
    request(url, options, resolve).on('error', reject).end(body);
  });
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'] ?? null,
    body: response as AsyncIterable<Uint8Array>,
  };
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

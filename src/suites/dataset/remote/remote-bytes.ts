import pRetry from 'p-retry';
import { RuntimeError } from '../../../base/errors.ts';
import { startTimer, type Timer } from '../../../base/time/deadline.ts';
import { type HostEnv, hostEnv } from '../../../process/env.ts';
import { openFetch } from '../../../process/web.ts';
import { isPattern } from '../files.ts';
import { isS3, isSafe, parseS3, remoteName, whyUnusable } from './address.ts';

export interface RemoteFacts {
  /** In bytes; null if the server does not report it. */
  readonly size: number | null;
  /** The entity tag or the time of the last change. A different version means different content. */
  readonly version: string | null;
  /** Whether the server supports byte ranges of the unencoded content. */
  readonly hasRanges: boolean;
}

export interface Reading {
  readonly signal: AbortSignal;
  /** Entries of `spec.private_hosts`. */
  readonly privateHosts?: readonly string[] | undefined;
}

/** Requests the first bytes of an address. Throws FILE_UNREADABLE and the abort reason of the signal. */
export async function lookAtRemote(
  path: string,
  reading: Reading,
): Promise<RemoteFacts & { readonly head: Buffer }> {
  const parts: Buffer[] = [];
  const opened = await openPart(path, { start: 0, end: HEAD_BYTES, silenceMs: SILENCE_MS }, reading);
  try {
    for await (const part of opened.parts) {
      parts.push(part);
      if (Buffer.concat(parts).length >= HEAD_BYTES) break;
    }
  } catch (thrown) {
    if (!(thrown instanceof TransientFault)) throw thrown;
  } finally {
    await opened.close();
  }
  return { ...opened.facts, head: Buffer.concat(parts).subarray(0, HEAD_BYTES) };
}

const HEAD_BYTES = 4;

export interface RemoteRange {
  readonly start: number;
  readonly end?: number | undefined;
  /** The expected version; undefined accepts any. */
  readonly version?: string | undefined;
  /** Milliseconds without data before the connection is reopened. Default: one minute. */
  readonly silenceMs?: number;
}

/**
 * Reads bytes of an address. Resumes a connection that breaks, times out or is temporarily refused. It resumes without
 * limit while each attempt yields data, but at most five times in a row without data. Throws FILE_UNREADABLE,
 * DATASET_INVALID if the content changed, and the abort reason of the signal.
 */
export async function* readRemote(
  path: string,
  { start, end, version, silenceMs = SILENCE_MS }: RemoteRange,
  reading: Reading,
): AsyncGenerator<Buffer> {
  let at = start;
  let expected = version;
  for (;;) {
    const { facts, parts, close } = await openPart(path, { start: at, end, silenceMs }, reading);
    try {
      if (expected !== undefined && facts.version !== expected) throw changed(path);
      expected ??= facts.version ?? undefined;
      if (!facts.hasRanges && (at > 0 || end !== undefined)) throw withoutRanges(path, at - start);
      for await (const part of parts) {
        at += part.length;
        yield part;
      }
    } catch (thrown) {
      if (!(thrown instanceof TransientFault)) throw thrown;
      continue;
    } finally {
      await close();
    }
    const whole = end ?? facts.size;
    if (whole === null || !facts.hasRanges || at >= whole) return;
  }
}

function withoutRanges(path: string, bytes: number): RuntimeError {
  const broken = bytes === 0 ? '' : `broke off after ${bytes} bytes, and `;
  return unreadable(
    path,
    `${broken}can be read only as a whole: its server does not support ranges`,
    'Copy it to a file, and use that file as the dataset.',
  );
}

function changed(file: string): RuntimeError {
  return new RuntimeError('DATASET_INVALID', `${remoteName(file)} changed while it was read`, {
    hint: 'Do not change the dataset until the run ends.',
  });
}

interface OpenPart {
  readonly facts: RemoteFacts;
  /** Throws TransientFault if the connection breaks, but not before the first bytes. */
  readonly parts: AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

interface Part {
  readonly start: number;
  readonly end: number | undefined;
  readonly silenceMs: number;
}

async function openPart(path: string, range: Part, reading: Reading): Promise<OpenPart> {
  const { signal } = reading;
  const reason = whyUnusable(path);
  if (reason !== undefined) throw unreadable(path, reason);
  try {
    return await pRetry(() => openOnce(path, range, reading), {
      ...{ retries: 5, minTimeout: 500, factor: 2, randomize: true, signal },
      shouldRetry: ({ error }) => error instanceof TransientFault,
    });
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof TransientFault)) throw thrown;
    throw new RuntimeError('FILE_UNREADABLE', thrown.message, { cause: thrown });
  }
}

async function openOnce(path: string, range: Part, reading: Reading): Promise<OpenPart> {
  const { signal } = reading;
  const silence = watchSilence(range.silenceMs, signal);
  try {
    const response = await requestBytes(path, range, { ...reading, signal: silence.signal });
    silence.timer.restart();
    const facts = factsOf(response);
    const body = readBody(path, response, silence, signal);
    const close = async () => void (await body.return(undefined));
    if (response.status === 416) {
      // The range starts at the end of the content, for example of an empty file.
      await response.body?.cancel();
      if (facts.size !== 0) throw changed(path);
      silence.timer.clear();
      return { facts, parts: noParts(), close };
    }
    if (!beginsAt(response, range.start))
      throw unreadable(path, 'is incomplete: its server sent a different range than requested');
    const first = await body.next();
    if (first.done === true && facts.hasRanges)
      throw new TransientFault(`${remoteName(path)} is empty: its server sent no bytes`);
    return { facts, parts: resumed(first, body), close };
  } catch (thrown) {
    silence.timer.clear();
    signal.throwIfAborted();
    throw silence.signal.aborted ? new TransientFault(`${remoteName(path)} ${silence.reason}`) : thrown;
  }
}

const SILENCE_MS = 60_000;

interface Silence {
  readonly signal: AbortSignal;
  readonly timer: Timer;
  readonly reason: string;
}

function watchSilence(silenceMs: number, signal: AbortSignal): Silence {
  const ending = new AbortController();
  const timer = startTimer({ timeoutMs: silenceMs, signal }, () => ending.abort());
  const reason = `cannot be read: its server sent nothing for ${silenceMs / 1_000} seconds`;
  return { signal: ending.signal, timer, reason };
}

async function* noParts(): AsyncGenerator<Buffer> {}

async function* resumed(
  first: IteratorResult<Buffer, unknown>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (first.done !== true) yield first.value;
  yield* rest;
}

async function* readBody(
  path: string,
  response: Response,
  silence: Silence,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    for await (const part of response.body ?? []) {
      // The time that the consumer takes does not count.
      silence.timer.pause();
      yield Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      silence.timer.restart();
    }
  } catch (cause) {
    signal.throwIfAborted();
    const reason = silence.signal.aborted ? silence.reason : `broke off: ${whyNotReached(cause)}`;
    throw new TransientFault(`${remoteName(path)} ${reason}`, { cause });
  } finally {
    silence.timer.clear();
  }
}

/** A response without a range starts at byte 0. */
function beginsAt({ status, headers }: Response, start: number): boolean {
  return status !== 206 || Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1]) === start;
}

function factsOf({ status, headers }: Response): RemoteFacts {
  const isEncoded = (headers.get('content-encoding') ?? 'identity') !== 'identity';
  const total = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1];
  const length = status === 200 && !isEncoded ? headers.get('content-length') : null;
  const size = total ?? length;
  return {
    size: size === null ? null : Number(size),
    version: headers.get('etag') ?? headers.get('last-modified'),
    hasRanges: status !== 200 && !isEncoded,
  };
}

class TransientFault extends Error {}

/**
 * Requests the bytes from `start` up to, but not including, `end`. Throws FILE_UNREADABLE, TransientFault and the abort
 * reason of the signal. A server answers 416 for an empty range, or the whole content if it does not support ranges.
 */
async function requestBytes(
  path: string,
  { start, end }: { readonly start: number; readonly end?: number | undefined },
  reading: Reading,
): Promise<Response> {
  const headers = { range: `bytes=${start}-${end === undefined ? '' : end - 1}` };
  const response = await send(path, headers, reading);
  if (response.ok || response.status === 416) return response;
  await response.body?.cancel();
  throw refused(path, response);
}

async function send(
  path: string,
  headers: Readonly<Record<string, string>>,
  { signal, privateHosts = [] }: Reading,
): Promise<Response> {
  let request = isS3(path) ? await signS3(path, headers) : withUser(new URL(path), headers);
  const fetch = openFetch({ named: request.url.href, privateHosts });
  for (let redirects = 0; ; redirects += 1) {
    const response = await get(path, request, { fetch, signal });
    const target = isS3(path) ? null : targetOf(response, request.url);
    if (target === null) return response;
    await response.body?.cancel();
    if (!isSafe(target) || redirects === MOST_REDIRECTS)
      throw unreadable(
        path,
        `redirects to ${target.origin}, ${isSafe(target) ? 'one redirect too many' : 'which uses plain HTTP'}`,
      );
    // Credentials are not sent to another origin after a redirect.
    request = target.origin === request.url.origin ? { ...request, url: target } : { url: target, headers };
  }
}

const MOST_REDIRECTS = 5;

function targetOf(response: Response, from: URL): URL | null {
  const location = response.headers.get('location');
  if (response.status < 300 || response.status > 399 || location === null) return null;
  return URL.parse(location, from.href);
}

/** `fetch` rejects user and password in a URL. */
function withUser(url: URL, headers: Readonly<Record<string, string>>): RemoteRequest {
  if (url.username === '' && url.password === '') return { url, headers };
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return {
    url: bare,
    headers: { ...headers, authorization: `Basic ${Buffer.from(user).toString('base64')}` },
  };
}

async function get(
  path: string,
  { url, headers }: RemoteRequest,
  { fetch, signal }: { readonly fetch: typeof globalThis.fetch; readonly signal: AbortSignal },
): Promise<Response> {
  try {
    return await fetch(url, { headers, signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof RuntimeError) throw cause;
    throw new TransientFault(`${remoteName(path)} cannot be reached: ${whyNotReached(cause)}`, { cause });
  }
}

function whyNotReached(thrown: unknown): string {
  const cause: unknown = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}

function refused(path: string, { status, headers }: Response): Error {
  if (status === 408 || status === 429 || status >= 500)
    return new TransientFault(`${remoteName(path)} cannot be read: its server answered ${status}`);
  if (status === 404 || status === 410)
    return unreadable(path, `does not exist (${status})`, isPattern(path) ? patternHint : undefined);
  if (status === 401 || status === 403)
    return unreadable(
      path,
      `cannot be read: access is denied (${status})`,
      isS3(path) ? keysHint : loginHint,
    );
  const region = headers.get('x-amz-bucket-region');
  if (isS3(path) && region !== null)
    return unreadable(path, `is in another region (${status})`, `Set AWS_REGION=${region}.`);
  return unreadable(path, `cannot be read: its server answered ${status}`);
}

const patternHint = 'Patterns match local files only: name one object, or copy the objects to a folder.';
const keysHint = 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of an account that may read it.';
const loginHint =
  'Use an address that needs no other credentials, such as a presigned one, or https://USER:PASSWORD@HOST/…';

function unreadable(path: string, reason: string, hint?: string): RuntimeError {
  return new RuntimeError(
    'FILE_UNREADABLE',
    `${remoteName(path)} ${reason}`,
    hint === undefined ? {} : { hint },
  );
}

export interface RemoteRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs the request for an S3 object. Reads the variables of AWS's own tools: `AWS_REGION` or `AWS_DEFAULT_REGION`, and
 * `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`. Unless the bucket is public, also `AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Source:
 * https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html
 */
export async function signS3(
  path: string,
  headers: Readonly<Record<string, string>>,
  env: HostEnv = hostEnv(),
): Promise<RemoteRequest> {
  const { bucket = '', key = '' } = parseS3(path) ?? {};
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1';
  const endpoint = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'];
  const url = new URL(`${baseOf(bucket, region, endpoint)}/${key.split('/').map(encodePart).join('/')}`);
  const [accessKeyId, secretAccessKey] = [env['AWS_ACCESS_KEY_ID'], env['AWS_SECRET_ACCESS_KEY']];
  if (!accessKeyId || !secretAccessKey) return { url, headers };
  const { AwsV4Signer } = await import('aws4fetch');
  const signer = new AwsV4Signer({
    ...{ url: url.href, headers: { ...headers }, accessKeyId, secretAccessKey, region, service: 's3' },
    ...(env['AWS_SESSION_TOKEN'] && { sessionToken: env['AWS_SESSION_TOKEN'] }),
  });
  const signed = await signer.sign();
  return { url: signed.url, headers: Object.fromEntries(signed.headers) };
}

/** AWS has the bucket in the host name, which its certificates cover; other servers have it in the path. */
function baseOf(bucket: string, region: string, endpoint: string | undefined): string {
  if (endpoint !== undefined && endpoint !== '')
    return `${endpoint.replace(/\/+$/, '')}/${encodePart(bucket)}`;
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const canBeHost = /^[a-z0-9][a-z0-9-]*$/.test(bucket);
  return canBeHost ? `https://${bucket}.${host}` : `https://${host}/${encodePart(bucket)}`;
}

/** S3 encodes everything except letters, digits, `-`, `.`, `_` and `~`. */
function encodePart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

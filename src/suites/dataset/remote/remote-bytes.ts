import pRetry from 'p-retry';
import { RuntimeError } from '../../../base/errors.ts';
import { startTimer, type Timer } from '../../../base/time/deadline.ts';
import { type HostEnv, hostEnv } from '../../../process/env.ts';
import { isPattern } from '../files.ts';
import { isS3, isSafe, parseS3, remoteName, whyUnusable } from './address.ts';

/** What is known of the bytes behind an address before they are read. */
export interface RemoteFacts {
  /** In bytes; null where the server does not tell. */
  readonly size: number | null;
  /** The entity tag, or the time of the last change; another one is another text. */
  readonly version: string | null;
  /** Whether the server gives bytes from the middle, as they are. */
  readonly hasRanges: boolean;
}

/** Looks at the first bytes behind an address. Throws FILE_UNREADABLE, and what the signal is aborted with. */
export async function lookAtRemote(
  path: string,
  signal: AbortSignal,
): Promise<RemoteFacts & { readonly head: Buffer }> {
  const parts: Buffer[] = [];
  const opened = await openPart(path, { start: 0, end: HEAD_BYTES, silenceMs: SILENCE_MS }, signal);
  try {
    for await (const part of opened.parts) {
      parts.push(part);
      if (Buffer.concat(parts).length >= HEAD_BYTES) break;
    }
  } catch (thrown) {
    if (!(thrown instanceof TransientFault)) throw thrown;
    // Reading tells what is wrong with it.
  } finally {
    await opened.close();
  }
  return { ...opened.facts, head: Buffer.concat(parts).subarray(0, HEAD_BYTES) };
}

const HEAD_BYTES = 4;

export interface RemoteRange {
  readonly start: number;
  readonly end?: number | undefined;
  /** Of the text that is expected; undefined: any. */
  readonly version?: string | undefined;
  /** How long a server may be silent, in milliseconds. Default: a minute. */
  readonly silenceMs?: number;
}

/**
 * Bytes behind an address. A connection that breaks, falls silent for a minute or is refused for the moment is opened again where
 * the bytes broke off, as often as it brings some, and five times where it brings none. Throws FILE_UNREADABLE, DATASET_INVALID for
 * a text that changed meanwhile, and what the signal is aborted with.
 */
export async function* readRemote(
  path: string,
  { start, end, version, silenceMs = SILENCE_MS }: RemoteRange,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let at = start;
  let expected = version;
  for (;;) {
    const { facts, parts, close } = await openPart(path, { start: at, end, silenceMs }, signal);
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
    `${broken}is given by its server as a whole only`,
    'Copy it to a file, and give its name.',
  );
}

/** Of a dataset that is not the one that was looked at before. */
function changed(file: string): RuntimeError {
  return new RuntimeError('DATASET_INVALID', `${remoteName(file)} was changed while it was read`, {
    hint: 'Leave the dataset as it is until the run has ended.',
  });
}

interface OpenPart {
  readonly facts: RemoteFacts;
  /** Throws TransientFault when it breaks off, and not before it has brought something. */
  readonly parts: AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

interface Part {
  readonly start: number;
  readonly end: number | undefined;
  readonly silenceMs: number;
}

async function openPart(path: string, range: Part, signal: AbortSignal): Promise<OpenPart> {
  const reason = whyUnusable(path);
  if (reason !== undefined) throw unreadable(path, reason);
  try {
    return await pRetry(() => openOnce(path, range, signal), {
      ...{ retries: 5, minTimeout: 500, factor: 2, randomize: true, signal },
      shouldRetry: ({ error }) => error instanceof TransientFault,
    });
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof TransientFault)) throw thrown;
    throw new RuntimeError('FILE_UNREADABLE', thrown.message, { cause: thrown });
  }
}

async function openOnce(path: string, range: Part, signal: AbortSignal): Promise<OpenPart> {
  const silence = watchSilence(range.silenceMs, signal);
  try {
    const response = await requestBytes(path, range, silence.signal);
    silence.timer.restart();
    const facts = factsOf(response);
    const body = readBody(path, response, silence, signal);
    const close = async () => void (await body.return(undefined));
    if (response.status === 416) {
      // Nothing is behind the end; of an empty text, that is all.
      await response.body?.cancel();
      if (facts.size !== 0) throw changed(path);
      silence.timer.clear();
      return { facts, parts: noParts(), close };
    }
    if (!beginsAt(response, range.start))
      throw unreadable(path, 'is given by its server from another place than was asked for');
    const first = await body.next();
    if (first.done === true && facts.hasRanges)
      throw new TransientFault(`${remoteName(path)} is given without any bytes`);
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
  /** To stand after the name of what was read. */
  readonly reason: string;
}

function watchSilence(silenceMs: number, signal: AbortSignal): Silence {
  const ending = new AbortController();
  const timer = startTimer({ timeoutMs: silenceMs, signal }, () => ending.abort());
  const reason = `cannot be read: its server was silent for ${silenceMs / 1_000} seconds`;
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
      // Whoever takes the part may take all the time there is.
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

/** A whole text begins at its beginning. */
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

/** A server that may be asked again: it has failed, or is busy, or was not reached. */
class TransientFault extends Error {}

/**
 * Asks for bytes of what is behind an address, from `start` and before `end`. Throws FILE_UNREADABLE, TransientFault, and what the signal
 * is aborted with. A range that there is none of is answered with 416; a server that knows no ranges answers with the whole.
 */
async function requestBytes(
  path: string,
  { start, end }: { readonly start: number; readonly end?: number | undefined },
  signal: AbortSignal,
): Promise<Response> {
  // `fetch` asks for the bytes as they are where it asks for a range: what is packed has no place for one to begin.
  const headers = { range: `bytes=${start}-${end === undefined ? '' : end - 1}` };
  const response = await send(path, headers, signal);
  if (response.ok || response.status === 416) return response;
  await response.body?.cancel();
  throw refused(path, response);
}

async function send(
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  let request = isS3(path) ? await signS3(path, headers) : withUser(new URL(path), headers);
  for (let redirects = 0; ; redirects += 1) {
    const response = await get(path, request, signal);
    const target = isS3(path) ? null : targetOf(response, request.url);
    if (target === null) return response;
    await response.body?.cancel();
    if (!isSafe(target) || redirects === MOST_REDIRECTS)
      throw unreadable(
        path,
        `sends on to ${target.origin}, ${isSafe(target) ? 'and on and on' : 'in plain text'}`,
      );
    // Who is asked next is not to be told what the first one was.
    request = target.origin === request.url.origin ? { ...request, url: target } : { url: target, headers };
  }
}

const MOST_REDIRECTS = 5;

function targetOf(response: Response, from: URL): URL | null {
  const location = response.headers.get('location');
  if (response.status < 300 || response.status > 399 || location === null) return null;
  return URL.parse(location, from.href);
}

/** `fetch` takes no user and password in an address. */
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

async function get(path: string, { url, headers }: RemoteRequest, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { headers, redirect: 'manual', signal });
  } catch (cause) {
    signal.throwIfAborted();
    throw new TransientFault(`${remoteName(path)} cannot be reached: ${whyNotReached(cause)}`, { cause });
  }
}

/** In the words of the system, such as ECONNREFUSED. */
function whyNotReached(thrown: unknown): string {
  const cause: unknown = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}

function refused(path: string, { status, headers }: Response): Error {
  if (status === 408 || status === 429 || status >= 500)
    return new TransientFault(`${remoteName(path)} cannot be read: its server answers ${status}`);
  if (status === 404 || status === 410)
    return unreadable(path, `does not exist (${status})`, isPattern(path) ? patternHint : undefined);
  if (status === 401 || status === 403)
    return unreadable(path, `may not be read (${status})`, isS3(path) ? keysHint : loginHint);
  const region = headers.get('x-amz-bucket-region');
  if (isS3(path) && region !== null)
    return unreadable(path, `is in another region (${status})`, `Set AWS_REGION=${region}.`);
  return unreadable(path, `cannot be read: its server answers ${status}`);
}

const patternHint = 'Patterns are looked up among files only: name one object, or copy them to a folder.';
const keysHint = 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of somebody who may read it.';
const loginHint =
  'Give an address that may be read as it is, such as a presigned one, or https://USER:PASSWORD@HOST/…';

/** FILE_UNREADABLE, with the reason to stand after the name. */
function unreadable(path: string, reason: string, hint?: string): RuntimeError {
  return new RuntimeError(
    'FILE_UNREADABLE',
    `${remoteName(path)} ${reason}`,
    hint === undefined ? {} : { hint },
  );
}

/** A GET as it is sent. */
export interface RemoteRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The request for an object of a bucket, with the names of variables that AWS's own programs have: `AWS_REGION` or
 * `AWS_DEFAULT_REGION`, `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, and unless the bucket is public `AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Source: https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html
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

/** A bucket is part of the host's name at AWS, where a certificate is for such a name, and of the path elsewhere. */
function baseOf(bucket: string, region: string, endpoint: string | undefined): string {
  if (endpoint !== undefined && endpoint !== '')
    return `${endpoint.replace(/\/+$/, '')}/${encodePart(bucket)}`;
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const canBeHost = /^[a-z0-9][a-z0-9-]*$/.test(bucket);
  return canBeHost ? `https://${bucket}.${host}` : `https://${host}/${encodePart(bucket)}`;
}

/** As S3 has it: all but letters, digits, `-`, `.`, `_` and `~`. */
function encodePart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

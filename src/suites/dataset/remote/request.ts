import { RuntimeError } from '../../../base/errors.ts';
import { isPattern } from '../files.ts';
import { isS3, isSafe, remoteName } from './address.ts';
import { type RemoteRequest, signS3 } from './sign.ts';

/** A server that may be asked again: it has failed, or is busy, or was not reached. */
export class TransientFault extends Error {}

/**
 * Asks for bytes of what is behind an address, from `start` and before `end`. Throws FILE_UNREADABLE, TransientFault, and what the signal
 * is aborted with. A range that there is none of is answered with 416; a server that knows no ranges answers with the whole.
 */
export async function requestBytes(
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
export function whyNotReached(thrown: unknown): string {
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
export function unreadable(path: string, reason: string, hint?: string): RuntimeError {
  return new RuntimeError(
    'FILE_UNREADABLE',
    `${remoteName(path)} ${reason}`,
    hint === undefined ? {} : { hint },
  );
}

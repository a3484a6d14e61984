import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { RuntimeError } from '../base/errors.ts';
import { whyUnreadable } from '../base/files/file-error.ts';

/** What is posted to a server whose certificate must be of given ones. */
export interface TrustingPost {
  readonly headers: Headers;
  readonly body: string;
  /** A file of certificates; no other is trusted. */
  readonly ca: string;
  readonly signal: AbortSignal;
}

/** One POST on a connection of its own. Follows no redirect. Throws FILE_UNREADABLE, and the errors of the connection. */
export async function postTrusting(url: URL, { headers, body, ca, signal }: TrustingPost) {
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

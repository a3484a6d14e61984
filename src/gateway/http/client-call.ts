import type { IncomingMessage } from 'node:http';
import { concatBytes } from '../../files/concat-bytes.ts';
import type { ClientCall } from '../call/client-call.ts';
import { readAll } from '../wire/read-all.ts';
import { RefusedCall } from '../wire/refusal.ts';

/** What Node's server gives beside a request; absent where the request comes from somewhere else. */
export interface NodeBindings {
  readonly incoming?: IncomingMessage | undefined;
  /** Ends the connection at once, in the middle of its answer. */
  readonly cut?: (() => void) | undefined;
}

/** A call of what came in. Its body is read from the socket, without a stream of the web in between. */
export function toClientCall(
  request: Request,
  { incoming, cut }: NodeBindings = {},
  about: Pick<ClientCall, 'endpoint' | 'query'>,
): ClientCall {
  const headers = incoming?.headers ?? Object.fromEntries(request.headers);
  const read = async (maxBytes: number) => {
    requireIdentity(headers['content-encoding']);
    const length = headers['content-length'];
    if (typeof length === 'string' && Number(length) > maxBytes) throw tooLarge(maxBytes);
    return incoming === undefined
      ? await readAll(request.body ?? [], maxBytes, () => tooLarge(maxBytes))
      : await readIncoming(incoming, maxBytes);
  };
  return { ...about, headers, readBody: read, signal: request.signal, cut };
}

function requireIdentity(encoding: string | string[] | undefined): void {
  if (encoding === undefined || String(encoding).trim().toLowerCase() === 'identity') return;
  throw new RefusedCall({
    status: 415,
    code: 'unsupported_encoding',
    message: 'The body must not be compressed (content-encoding: identity).',
    isRetryable: false,
  });
}

function tooLarge(maxBytes: number): RefusedCall {
  return new RefusedCall({
    status: 413,
    code: 'body_too_large',
    message: `The body is larger than ${maxBytes} bytes.`,
    isRetryable: false,
  });
}

function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) end(() => reject(tooLarge(maxBytes)));
      else chunks.push(chunk);
    };
    const onEnd = () => end(() => resolve(concatBytes(chunks, length)));
    const onClose = () => end(() => reject(brokenOff()));
    const end = (settle: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('close', onClose);
      settle();
    };
    incoming.on('data', onData).once('end', onEnd).once('close', onClose).on('error', onClose);
  });
}

function brokenOff(): RefusedCall {
  return new RefusedCall({
    status: 400,
    code: 'body_incomplete',
    message: 'The body broke off.',
    isRetryable: true,
  });
}

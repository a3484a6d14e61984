import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { concatBytes } from '../../base/text/bytes.ts';
import type { ClientCall, ClientReply } from '../ports.ts';
import { isAnthropicEndpoint, readAll } from '../upstream/upstream.ts';
import type { ClientHeaders, EndpointName } from '../wire/codec.ts';
import { invalidRequest, type RefusedCall, refuse } from '../wire/refusal.ts';

/** The objects of Node's HTTP server; absent for requests from other sources. */
export interface NodeBindings {
  readonly incoming?: IncomingMessage | undefined;
  readonly cut?: (() => void) | undefined;
}

/** Builds a call from a request. Reads the body from the socket directly, without a web stream. */
export function toClientCall(
  request: Request,
  { incoming, cut }: NodeBindings = {},
  about: Pick<ClientCall, 'endpoint' | 'query'>,
): ClientCall {
  const headers = headersOf(request, { incoming });
  const read = async (maxBytes: number) => {
    const coding = requireCoding(headers['content-encoding']);
    const length = headers['content-length'];
    if (typeof length === 'string' && Number(length) > maxBytes) throw tooLarge(maxBytes);
    const body =
      incoming === undefined
        ? await readAll(request.body ?? [], maxBytes, () => tooLarge(maxBytes))
        : await readIncoming(incoming, maxBytes);
    return coding === undefined ? body : await decompress(body, coding, maxBytes);
  };
  return { ...about, headers, readBody: read, signal: request.signal, cut };
}

export function headersOf(request: Request, { incoming }: NodeBindings = {}): ClientHeaders {
  return incoming?.headers ?? Object.fromEntries(request.headers);
}

/** The supported content codings. Each decoder throws if the data is truncated or exceeds `maxOutputLength`. */
const decoders = {
  zstd: promisify(zstdDecompress),
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
};
type Coding = keyof typeof decoders;

/** Returns undefined for an uncompressed body. Throws RefusedCall (415) for unknown or multiple codings. */
function requireCoding(given: string | string[] | undefined): Coding | undefined {
  const names = String(given ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const [name] = names;
  if (name === undefined) return undefined;
  if (names.length === 1 && isCoding(name)) return name;
  throw refuse(
    415,
    'unsupported_encoding',
    `The body may be compressed once, with ${Object.keys(decoders).join(', ')}, or not at all.`,
  );
}

function isCoding(name: string): name is Coding {
  return Object.hasOwn(decoders, name);
}

async function decompress(body: Uint8Array, coding: Coding, maxBytes: number): Promise<Uint8Array> {
  try {
    return await decoders[coding](body, { maxOutputLength: maxBytes });
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(maxBytes);
    throw refuse(
      400,
      'invalid_request',
      `The body is incomplete, or is not ${coding}, although its content-encoding says so.`,
    );
  }
}

function tooLarge(maxBytes: number): RefusedCall {
  return refuse(413, 'body_too_large', `The body is larger than ${maxBytes} bytes.`);
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
  return refuse(400, 'body_incomplete', 'The body ended early.', { isRetryable: true });
}

/** No hook reads it, so only strings that known clients send are allowed. Throws RefusedCall (400) for any other. */
export function queryOf(url: string, endpoint: EndpointName): string {
  const start = url.indexOf('?');
  const query = start === -1 ? '' : url.slice(start);
  if (query === '' || query === '?') return '';
  // Anthropic's SDK and agent use this query for beta calls of Messages.
  if (isAnthropicEndpoint(endpoint) && query === '?beta=true') return query;
  if (/^\?api-version=[\w.-]{1,40}$/.test(query)) return query;
  throw invalidRequest('The address has an unknown query.');
}

export function toResponse({ status, headers, body }: ClientReply): Response {
  return new Response(body instanceof Uint8Array ? new Uint8Array(body) : body, { status, headers });
}

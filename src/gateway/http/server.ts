import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { RuntimeError } from '../../base/errors.ts';
import type { GatewayLimits } from '../../config/config.ts';
import { formatListen } from '../../config/listen.ts';
import type { NodeBindings } from './client-call.ts';

export type FetchHandler = (request: Request, bindings?: NodeBindings) => Response | Promise<Response>;

/** Handles a request of Node's server. Never rejects. */
export type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<unknown>;

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly limits: Pick<GatewayLimits, 'headersMs' | 'requestMs' | 'idleMs' | 'connections'>;
  /** Called for each request, so that a reload applies to the next one. */
  readonly generation: () => Generation;
}

interface Generation {
  readonly listener: Listener;
  /** Counts a request. Call the returned function when the response is sent or the client has disconnected. */
  begin(): () => void;
}

export interface GatewayServer {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Waits up to `drainMs` milliseconds for running calls. Resolves to the number of cut connections. Never rejects. */
  close(drainMs: number): Promise<number>;
}

/** Starts an HTTP server. Throws LISTEN_FAILED. */
export async function listen({ host, port, limits, generation }: ListenOptions): Promise<GatewayServer> {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: Math.max(limits.requestMs, limits.headersMs),
      connectionsCheckingInterval: Math.min(1000, limits.headersMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
    },
    (incoming, outgoing) => void answer(generation(), incoming, outgoing),
  );
  cutFurtherConnections(server, limits.connections);
  cutStalledReaders(server, limits.idleMs);
  await listening(server, { host, port });
  const address = server.address();
  const own = isAddressInfo(address) ? address : { port, address: host };
  return { host, port: own.port, url: urlOf(host, own.port), close: (drainMs) => close(server, drainMs) };
}

const KEEP_ALIVE_MS = 65_000;

export function toListener(fetch: FetchHandler): Listener {
  return getRequestListener(
    (request, { incoming, outgoing }) =>
      fetch(request, { incoming: asIncoming(incoming), cut: () => void outgoing.destroy() }),
    // An HTTP/1.0 request may have no Host header.
    { hostname: 'localhost' },
  );
}

function asIncoming(incoming: object): IncomingMessage | undefined {
  return incoming instanceof IncomingMessage ? incoming : undefined;
}

async function answer(
  { listener, begin }: Generation,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  // A connection reset by the client is not an error.
  incoming.on('error', () => {});
  outgoing.on('error', () => {});
  outgoing.once('close', begin());
  await listener(incoming, outgoing);
}

/** With `maxConnections`, a full process of a cluster would pass a connection on for ever, if the others are full too. */
function cutFurtherConnections(server: Server, most: number): void {
  let count = 0;
  server.on('connection', (socket) => {
    count += 1;
    socket.once('close', () => {
      count -= 1;
    });
    if (count > most) socket.destroy();
  });
}

/** Connections with nothing to send are waiting for the upstream, which has its own timeouts. */
function cutStalledReaders(server: Server, idleMs: number): void {
  server.setTimeout(idleMs, (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
}

async function listening(
  server: Server,
  { host, port }: Pick<ListenOptions, 'host' | 'port'>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ host, port }, resolve);
  try {
    await promise;
  } catch (thrown) {
    throw toListenError(thrown, `${host}:${port}`);
  }
  server.off('error', reject);
  // For example, too many open files: only that connection is lost.
  server.on('error', () => {});
}

function toListenError(thrown: unknown, address: string): RuntimeError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown';
  const why = reasons[code] ?? `the server cannot listen there (${code})`;
  return new RuntimeError('LISTEN_FAILED', `${address}: ${why}`, { cause: thrown });
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

function isAddressInfo(address: unknown): address is AddressInfo {
  return typeof address === 'object' && address !== null && 'port' in address;
}

function urlOf(host: string, port: number): string {
  return `http://${formatListen({ host, port })}`;
}

async function close(server: Server, drainMs: number): Promise<number> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const over = new AbortController();
  const isClosed = closed.then(() => true);
  const deadline = sleep(drainMs, false, { signal: over.signal }).catch(() => false);
  // Busy connections become idle one by one.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const isDrained = await Promise.race([isClosed, deadline]);
  clearInterval(idle);
  over.abort();
  if (isDrained) return 0;
  const count = await new Promise<number>((resolve) =>
    server.getConnections((error, found) => resolve(error ? 0 : found)),
  );
  server.closeAllConnections();
  await closed;
  return count;
}

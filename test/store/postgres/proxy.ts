import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Proxy {
  readonly port: number;
  /** Drops everything that the server sends from now on. */
  loseAnswers(): void;
  /** The number of bytes dropped since then. */
  lost(): number;
  /** Ends all connections. New ones work normally. */
  cut(): void;
  /** Holds back both directions until `thaw`. */
  freeze(): void;
  thaw(): void;
}

/** Starts a proxy and stops it after the test. With `poolsTransactions`, each transaction gets any free session. */
export async function startProxy(
  to: number,
  { poolsTransactions = false }: { readonly poolsTransactions?: boolean } = {},
): Promise<Proxy> {
  const open = new Set<Socket>();
  const free: Socket[] = [];
  let isLosing = false;
  let isFrozen = false;
  let lost = 0;
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    keep(client);
    const upstream = keep(connect(to, '127.0.0.1'));
    if (poolsTransactions) return poolTransactions(client, upstream, free);
    client.pipe(upstream);
    if (isFrozen) client.pause();
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    upstream.on('data', (data) => {
      if (isLosing) lost += data.length;
      else client.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    isLosing = false;
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    loseAnswers: () => {
      lost = 0;
      isLosing = true;
    },
    lost: () => lost,
    cut,
    freeze: () => {
      isFrozen = true;
      for (const socket of open) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of open) socket.resume();
    },
  };
}

/** Message type letters. Source: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const [KEY, READY, IDLE, TERMINATE] = ['K', 'Z', 'I', 'X'].map((letter) => letter.charCodeAt(0));

function poolTransactions(client: Socket, first: Socket, free: Socket[]): void {
  let session: Socket | undefined = first;
  let isLoggedIn = false;
  const serve = (data: Buffer) => {
    // Replaces the client's cancel key by the pooler's own.
    for (const [at, letter] of messagesOf(data)) if (letter === KEY) data.writeInt32BE(1, at + 5);
    client.write(data);
    const isReady = messagesOf(data).some(([at, letter]) => letter === READY && data[at + 5] === IDLE);
    if (!isReady || session === undefined) return;
    session.off('data', serve);
    if (!isLoggedIn && free.length > 0) session.destroy();
    else free.push(session);
    isLoggedIn = true;
    session = undefined;
  };
  first.on('data', serve);
  client.on('data', (data) => {
    if (data[0] === TERMINATE && isLoggedIn) return void client.end();
    session ??= free.pop()?.on('data', serve);
    session?.write(data);
  });
}

function messagesOf(data: Buffer): (readonly [number, number | undefined])[] {
  const found: (readonly [number, number | undefined])[] = [];
  for (let at = 0; at + 5 <= data.length; at += 1 + data.readInt32BE(at + 1)) found.push([at, data[at]]);
  return found;
}

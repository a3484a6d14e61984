import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type Call, calls } from './endpoints.ts';

export type Talk = (socket: Socket, call: Call) => void | Promise<void>;

export interface Upstream {
  readonly url: string;
  /** Titles of the calls since the behavior was set. */
  asked(): readonly string[];
  /** Open connections, with and without a call in progress. */
  open(): { readonly calls: number; readonly idle: number };
  talkWith(talk: Talk | 'refuses'): void;
  close(): void;
}

export async function startUpstream(): Promise<Upstream> {
  let talk: Talk | 'refuses' = 'refuses';
  let asked: string[] = [];
  const sockets = new Set<Socket>();
  const busy = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket) && busy.delete(socket));
    if (talk === 'refuses') return void socket.resetAndDestroy();
    let heard = '';
    const listen = (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      const call = isWhole(heard) ? callOf(heard) : undefined;
      if (call === undefined) return;
      socket.off('data', listen).resume();
      busy.add(socket);
      asked.push(call.title);
      if (talk !== 'refuses') void talk(socket, call);
    };
    socket.on('data', listen);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    asked: () => asked,
    open: () => ({ calls: busy.size, idle: sockets.size - busy.size }),
    talkWith: (next) => {
      talk = next;
      asked = [];
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function isWhole(request: string): boolean {
  const [head = '', body] = request.split('\r\n\r\n', 2);
  if (body === undefined) return false;
  const length = /content-length: *(\d+)/i.exec(head)?.[1];
  return length === undefined ? request.endsWith('0\r\n\r\n') : body.length >= Number(length);
}

function callOf(request: string): Call | undefined {
  const isStream = request.includes('"stream":true');
  return calls.find((call) => request.startsWith(`POST ${call.path} `) && call.isStream === isStream);
}

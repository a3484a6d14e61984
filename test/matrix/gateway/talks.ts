import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Call } from './endpoints.ts';
import { secret } from './endpoints.ts';
import type { Talk } from './upstream.ts';

const head = (status: string, ...headers: readonly string[]) =>
  `HTTP/1.1 ${status}\r\n${headers.map((each) => `${each}\r\n`).join('')}connection: close\r\n\r\n`;
const typeOf = ({ isStream }: Call) => `content-type: ${isStream ? 'text/event-stream' : 'application/json'}`;

export const sound: Talk = (socket, call) => void socket.end(head('200 OK', typeOf(call)) + call.answer);

const says =
  (text: (call: Call) => string | Uint8Array): Talk =>
  (socket, call) =>
    void socket.end(text(call));

export const stops =
  (text: (call: Call) => string): Talk =>
  (socket, call) =>
    void socket.write(text(call));

export const well = (call: Call) => head('200 OK', typeOf(call));

const endlessly =
  (start: (call: Call) => string, piece: string, pauseMs = 0): Talk =>
  async (socket, call) => {
    socket.write(start(call));
    while (!socket.destroyed) {
      const isRoom = socket.write(piece);
      if (pauseMs > 0 || !isRoom) await sleep(Math.max(pauseMs, 5));
    }
  };

const dribble: Talk = async (socket, call) => {
  const text = `${well(call)}${call.isStream ? 'data: ' : '"'}${secret.repeat(20)}`;
  for (const letter of text.slice(0, 200)) {
    socket.write(letter);
    await sleep(5);
  }
  socket.end();
};

export interface UpstreamFault {
  readonly title: string;
  readonly talk: Talk | 'refuses';
  /** Without text, this is a valid answer. */
  readonly isHarmless?: true;
}

/** None of these is an answer, so no client may receive any of it. */
export const upstreamFaults: readonly UpstreamFault[] = [
  { title: 'refuses', talk: 'refuses' },
  { title: 'resets', talk: (socket) => void socket.resetAndDestroy() },
  { title: 'hangs', talk: () => {} },
  { title: 'closes without a word', talk: says(() => '') },
  { title: 'is no HTTP', talk: says(() => `${secret}\r\n\r\n`) },
  { title: 'stops in its headers', talk: stops(() => 'HTTP/1.1 200 OK\r\ncontent-') },
  {
    title: 'sends headers one by one for ever',
    talk: endlessly(() => 'HTTP/1.1 200 OK\r\n', `x-a: ${secret}\r\n`, 50),
  },
  { title: 'stops behind its headers', talk: stops(well) },
  {
    title: 'ends in the middle',
    talk: says((call) => well(call) + call.answer.slice(0, call.answer.indexOf(secret) + 5)),
    isHarmless: true,
  },
  { title: 'stops in the middle', talk: stops((call) => well(call) + call.answer.slice(0, -20)) },
  { title: 'dribbles, and ends in the middle', talk: dribble },
  {
    title: 'never ends a line',
    talk: endlessly((call) => `${well(call)}${call.isStream ? 'data: "' : '"'}`, secret.repeat(5_000)),
  },
  {
    title: 'has another content type',
    talk: says(() => `${head('200 OK', 'content-type: text/html')}<h1>${secret}</h1>`),
  },
  { title: 'sends HTML as what was asked for', talk: says((call) => `${well(call)}<h1>${secret}</h1>`) },
  {
    title: 'sends a gzip bomb',
    talk: says((call) =>
      Buffer.concat([
        Buffer.from(head('200 OK', typeOf(call), 'content-encoding: gzip')),
        gzipSync(Buffer.alloc(20_000_000, ' ')),
      ]),
    ),
  },
  {
    title: 'sends bytes that are no UTF-8',
    talk: says((call) =>
      Buffer.from((well(call) + call.answer).replace(secret, `\u00e9\u00ff${secret}`), 'latin1'),
    ),
    isHarmless: true,
  },
  {
    title: 'redirects',
    talk: says(() => head('307 Temporary Redirect', `location: http://127.0.0.1:1/${secret}`)),
  },
  { title: 'has no content', talk: says(() => head('204 No Content')) },
  { title: 'is out of order', talk: says((call) => head('500 Internal Server Error', typeOf(call))) },
  {
    title: 'knows no such page',
    talk: says((call) => `${head('404 Not Found', typeOf(call))}{"error":{"message":"none"}}`),
  },
];

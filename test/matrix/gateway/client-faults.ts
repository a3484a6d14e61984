import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, secret } from './endpoints.ts';
import { stops, well } from './talks.ts';
import type { Talk } from './upstream.ts';

/** The connection on which a client commits its fault. */
interface Line {
  readonly socket: Socket;
  readonly call: Call;
  readonly body: string;
  isAnswered(): boolean;
  isAsked(): boolean;
}

export interface ClientFault {
  readonly title: string;
  act(line: Line): void | Promise<void>;
  /** The allowed statuses. An empty list: the connection is closed without an answer. */
  readonly statuses: readonly number[];
  /** The request is complete and reaches the upstream; otherwise it must not. */
  readonly isWhole?: true;
  /** The client disconnects: its upstream call ends, and its row says \`aborted\`. */
  readonly isGone?: true;
  /** The client does not notice how its connection is closed. */
  readonly isDeaf?: true;
  readonly talk?: Talk;
}

/** The body limit in bytes: see clients.ts. */
export const bodyLimit = 65_536;

const head = ({ path }: Call, ...headers: readonly string[]) =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n${headers.map((each) => `${each}\r\n`).join('')}\r\n`;
const sized = (call: Call, length: number | string) => head(call, `content-length: ${length}`);
const whole = ({ call, body }: Line) => sized(call, body.length) + body;
const half = (line: Line) => whole(line).slice(0, -10);
const inHeaders = (line: Line) => whole(line).slice(0, 60);
const whenWhole = { isWhole: true, isGone: true } as const;
const tooLong = 'x'.repeat(2 * bodyLimit);

const sends = (text: (line: Line) => string) => (line: Line) => void line.socket.write(text(line));
const sendsAndEnds = (text: (line: Line) => string) => (line: Line) => void line.socket.end(text(line));
const sendsAndResets = (text: (line: Line) => string) => async (line: Line) => {
  line.socket.write(text(line));
  await sleep(100);
  line.socket.resetAndDestroy();
};

const dribbles = (from: (line: Line) => number) => async (line: Line) => {
  const text = whole(line);
  line.socket.write(text.slice(0, from(line)));
  for (const sign of text.slice(from(line))) {
    await sleep(1000);
    if (line.socket.destroyed) return;
    line.socket.write(sign);
  }
};

const leaves = (isTime: (line: Line) => boolean) => async (line: Line) => {
  line.socket.write(whole(line));
  while (!isTime(line) && !line.socket.destroyed) await sleep(5);
  line.socket.resetAndDestroy();
};

/** A text larger than all buffers in between. */
const large = (call: Call) =>
  call.answer.includes(secret)
    ? call.answer.replaceAll(secret, secret.repeat(call.isStream ? 180_000 : 460_000))
    : ' '.repeat(5_500_000) + call.answer;

const dawdles = stops((call) => {
  const events = call.answer.split(/(?<=\n\n)/);
  const first = events.findIndex((event) => event.includes(secret));
  const piece = events[first] ?? '';
  if (!call.isStream) return well(call) + call.answer.slice(0, -20);
  const pieces = Array.from({ length: 50 }, (_, at) =>
    piece.replace(/"sequence_number":\d+/, `"sequence_number":${first + at}`),
  );
  return well(call) + events.slice(0, first).join('') + pieces.join('');
});

export const clientFaults: readonly ClientFault[] = [
  { title: 'closes within its headers', act: sendsAndEnds(inHeaders), statuses: [400] },
  { title: 'is gone within its headers', act: sendsAndResets(inHeaders), statuses: [] },
  { title: 'sends its headers a byte a second', act: dribbles(() => 20), statuses: [408] },
  { title: 'closes in the middle of its body', act: sendsAndEnds(half), statuses: [400] },
  { title: 'is gone in the middle of its body', act: sendsAndResets(half), statuses: [] },
  {
    title: 'sends its body a byte a second',
    act: dribbles((line) => half(line).length),
    statuses: [408],
  },
  { title: 'claims a length beyond its body, and waits', act: sends(half), statuses: [408] },
  {
    title: 'claims a length within its body',
    act: sends(({ call, body }) => sized(call, body.length - 10) + body),
    statuses: [400],
  },
  {
    title: 'claims a length of its own making',
    act: sends(({ call, body }) => sized(call, '1e2') + body),
    statuses: [400],
  },
  {
    title: 'claims a length and chunks',
    act: sends(
      ({ call, body }) => head(call, `content-length: ${body.length}`, 'transfer-encoding: chunked') + body,
    ),
    statuses: [400],
  },
  {
    title: 'claims a length over the limit, and sends nothing',
    act: sends(({ call }) => sized(call, 1e15)),
    statuses: [413],
  },
  {
    title: 'sends a body over the limit',
    act: sends(({ call }) => sized(call, tooLong.length) + tooLong),
    statuses: [413],
  },
  {
    title: 'sends a body over the limit in chunks',
    act: sends(
      ({ call }) =>
        `${head(call, 'transfer-encoding: chunked')}${tooLong.length.toString(16)}\r\n${tooLong}\r\n`,
    ),
    statuses: [413],
  },
  {
    title: 'sends chunks that break off',
    act: sendsAndEnds(({ call, body }) => `${head(call, 'transfer-encoding: chunked')}ffff\r\n${body}`),
    statuses: [400],
  },
  {
    title: 'is gone when it has asked',
    act: leaves(({ isAsked }) => isAsked()),
    statuses: [],
    talk: () => {},
    ...whenWhole,
  },
  {
    title: 'is gone in the middle of the answer',
    act: leaves(({ call, isAsked, isAnswered }) => (call.isStream ? isAnswered() : isAsked())),
    statuses: [200],
    talk: dawdles,
    ...whenWhole,
  },
  {
    title: 'never reads its answer',
    act: (line) => void line.socket.pause().write(whole(line)),
    isDeaf: true,
    statuses: [200],
    talk: (socket, call) => void socket.end(well(call) + large(call)),
    isWhole: true,
  },
];

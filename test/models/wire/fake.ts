import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject, stringifyJson } from '../../../src/base/json/json.ts';
import { anthropic } from './anthropic.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { responses } from './responses.ts';
import type { Fault, Turn, Wire, WireEvent, WireRequest } from './turn.ts';

export type { Turn } from './turn.ts';

export interface Fake {
  readonly url: string;
  readonly requests: readonly WireRequest[];
  /** The number of connections that the caller closed before it had its answer. */
  readonly dropped: number;
  close(): Promise<void>;
}

export const wires = { openai, responses, anthropic, gemini } as const;

/** Starts an API that answers requests from the script; the last turn repeats. */
export async function openFake(kind: keyof typeof wires, script: readonly Turn[]): Promise<Fake> {
  const wire = wires[kind];
  const requests: WireRequest[] = [];
  let dropped = 0;
  const server = createServer((incoming, outgoing) => {
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) dropped += 1;
    });
    const turn = async () => {
      const request = await readRequest(incoming);
      requests.push(request);
      const serial = requests.length;
      await answer(wire, { request, outgoing, serial, turn: script[serial - 1] ?? script.at(-1) ?? {} });
    };
    // The caller may hang up.
    turn().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}${wire.prefix}`,
    requests,
    get dropped() {
      return dropped;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<WireRequest> {
  const body = await text(incoming);
  const parsed: unknown = body === '' ? {} : JSON.parse(body);
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(headers),
    text: body,
    body: isObject(parsed) ? parsed : {},
  };
}

interface Play {
  readonly request: WireRequest;
  readonly outgoing: ServerResponse;
  readonly serial: number;
  readonly turn: Turn;
}

async function answer(wire: Wire, play: Play): Promise<void> {
  const { turn, outgoing, request, serial } = play;
  const { fault } = turn;
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'hang-up') {
    outgoing.destroy();
  } else if (fault?.kind === 'status') {
    const body = stringifyJson(wire.error(fault.status, fault.message ?? 'refused'));
    send(outgoing, { status: fault.status, body, headers: fault.headers });
  } else if (fault?.kind === 'body') {
    send(outgoing, fault);
  } else if (wire.isStream(request)) {
    await sendEvents(wire, outgoing, { events: wire.events(turn, request, serial), fault });
  } else {
    sendBody(outgoing, stringifyJson(wire.body(turn, request, serial)), fault);
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function send(outgoing: ServerResponse, { status, body, headers }: Answer): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
  outgoing.end(body);
}

function sendBody(outgoing: ServerResponse, body: string, fault: Fault | undefined): void {
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  if (fault === undefined) {
    outgoing.end(body);
    return;
  }
  const half = body.slice(0, body.length / 2);
  outgoing.write(half, () => {
    if (fault.kind !== 'stall') outgoing.destroy();
  });
}

interface Broadcast {
  readonly events: readonly WireEvent[];
  readonly fault: Fault | undefined;
}

async function sendEvents(wire: Wire, outgoing: ServerResponse, { events, fault }: Broadcast): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const after = fault !== undefined && 'after' in fault ? fault.after : undefined;
  const before = fault === undefined ? events : events.slice(0, after ?? Math.ceil(events.length / 2));
  for (const event of before) {
    await write(outgoing, formatEvent(event));
    // Sends each event in a packet of its own, if possible.
    await nextTurn();
  }
  if (fault?.kind === 'stall') return;
  if (fault?.kind === 'cut') {
    outgoing.destroy();
    return;
  }
  if (fault?.kind === 'garble') await write(outgoing, 'data: {"half\n\n');
  if (fault?.kind === 'event')
    await write(outgoing, formatEvent(wire.errorEvent(fault.message ?? 'overloaded')));
  outgoing.end();
}

function write(outgoing: ServerResponse, chunk: string): Promise<void> {
  return new Promise((resolve, reject) =>
    outgoing.write(chunk, (error) => (error ? reject(error) : resolve())),
  );
}

function formatEvent({ event, data }: WireEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${typeof data === 'string' ? data : stringifyJson(data)}\n\n`;
}

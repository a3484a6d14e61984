import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { within } from '../base/time/async.ts';
import { findId, readMessage, refuse, rpcCodes } from './messages.ts';

export interface StdioOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly maxBytes: number;
}

/** One end of a connection over stdin and stdout, with one message a line. */
export interface LineConnection {
  /** Resolves when the client has closed its end, or after `close`. */
  readonly closed: Promise<void>;
  start(): void;
  /** Resolves when the text is written. While the client does not read, nothing more is read from it. */
  write(text: string): Promise<void>;
  close(): void;
}

interface LineHandlers {
  readonly onLine: (line: Uint8Array) => void;
  /** Waited for when the client has closed its end, but not long. */
  readonly answered: () => Promise<void>;
  readonly onClose?: () => void;
}

/** A line that is too long is answered with an error, and the connection stays. */
export function openLines(
  { stdin, stdout, maxBytes }: StdioOptions,
  { onLine, answered, onClose }: LineHandlers,
): LineConnection {
  const closed = Promise.withResolvers<void>();
  let isClosed = false;
  const write = async (text: string) => {
    if (isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const hasRoom = stdout.write(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`, () => resolve());
    if (hasRoom) return await promise;
    stdin.pause();
    await promise;
    if (!isClosed) stdin.resume();
  };
  const lines = createLines(
    maxBytes,
    (line) => {
      if (!line.every(isBlank)) onLine(line);
    },
    (start, end) => {
      const message = `the message is longer than ${maxBytes} bytes (max_message_bytes)`;
      void write(JSON.stringify(refuse(findId(start, end), rpcCodes.request, message).reply));
    },
  );
  const take = (chunk: Buffer) => lines.push(chunk);
  // What is answered at once may still be answered, so that a pipe such as `echo … | signalbox mcp` works.
  const end = () => {
    lines.end();
    void within(ANSWER_MS, answered()).then(close);
  };
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    stdin.off('data', take).pause();
    // Late errors of a client that is gone.
    stdin.on('error', () => {});
    stdout.on('error', () => {});
    closed.resolve();
    onClose?.();
  };
  return {
    closed: closed.promise,
    start: () => {
      stdin.on('data', take).once('end', end).once('close', end).once('error', close);
      stdout.once('error', close);
      if (stdin.readableEnded || stdin.destroyed) end();
    },
    write,
    close,
  };
}

interface StdioTransport extends Transport {
  /** Resolves when the client has closed its end, or the transport was closed. */
  readonly closed: Promise<void>;
}

/** A line that is unreadable is answered with an error, and the connection stays. */
export function openStdio(options: StdioOptions): StdioTransport {
  const answered = openAnswers();
  const lines = openLines(options, {
    answered: answered.all,
    onClose: () => transport.onclose?.(),
    onLine: (line) => {
      const read = readMessage(line);
      if (read.kind === 'refused') {
        void lines.write(JSON.stringify(read.reply));
        return;
      }
      answered.expect(read.message);
      transport.onmessage?.(read.message);
    },
  });
  const transport: StdioTransport = {
    closed: lines.closed,
    start: async () => lines.start(),
    send: async (message) => {
      await lines.write(JSON.stringify(message));
      answered.take(message);
    },
    close: async () => lines.close(),
  };
  return transport;
}

const ANSWER_MS = 1_000;

/** Counts requests that wait for their answer, except calls of tools. */
function openAnswers() {
  const waiting = new Set<unknown>();
  let wake: (() => void) | undefined;
  return {
    expect: (message: JSONRPCMessage) => {
      if ('method' in message && 'id' in message && message.method !== 'tools/call') waiting.add(message.id);
    },
    take: (message: object) => {
      if ('id' in message && waiting.delete(message.id) && waiting.size === 0) wake?.();
    },
    all: async () => {
      if (waiting.size === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
  };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** Splits bytes into lines. Of a line that is too long, keeps only what may name its id. */
function createLines(
  maxBytes: number,
  take: (line: Uint8Array) => void,
  takeLong: (start: string, end: string) => void,
) {
  let parts: Buffer[] = [];
  let size = 0;
  let long: { readonly start: Buffer; end: Buffer } | undefined;
  const add = (piece: Buffer) => {
    size += piece.length;
    if (long !== undefined) long.end = lastBytes(long.end, piece);
    else parts.push(piece);
    if (long !== undefined || size <= maxBytes) return;
    const whole = Buffer.concat(parts);
    long = { start: Buffer.from(whole.subarray(0, KEPT_START)), end: lastBytes(whole) };
    parts = [];
  };
  const finish = () => {
    const [first, ...more] = parts;
    const line = first === undefined ? undefined : more.length === 0 ? first : Buffer.concat(parts);
    const tooLong = long;
    parts = [];
    size = 0;
    long = undefined;
    if (tooLong !== undefined) takeLong(tooLong.start.toString(), tooLong.end.toString());
    else if (line !== undefined) take(line);
  };
  return {
    push: (chunk: Buffer) => {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      if (from < chunk.length) add(chunk.subarray(from));
    },
    /** The last line may lack its line break. */
    end: finish,
  };
}

const NEWLINE = 0x0a;
const KEPT_START = 64 * 1024;
const KEPT_END = 1024;

function lastBytes(...parts: readonly Buffer[]): Buffer {
  return Buffer.from(Buffer.concat(parts).subarray(-KEPT_END));
}

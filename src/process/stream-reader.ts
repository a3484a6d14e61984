import type { Readable } from 'node:stream';
import { concatBytes } from '../base/text/bytes.ts';

/** Settles when the stream has ended or was destroyed. Never rejects. */
export function whenClosed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) {
      resolve();
      return;
    }
    // A read error ends the stream; the bytes read so far are the output.
    stream.on('error', () => {});
    stream.once('close', resolve);
  });
}

/** Yields to the event loop, since a fast writer would block everything else, including timeouts. */
export function readInTurns(stream: Readable, onChunk: (chunk: Buffer) => void): void {
  stream.on('data', (chunk: Buffer) => {
    const start = performance.now();
    onChunk(chunk);
    if (performance.now() - start < LONG_MS) return;
    stream.pause();
    setImmediate(() => stream.resume());
  });
}

const LONG_MS = 5;

export interface LineListener {
  onLine(bytes: Buffer, start: number, end: number): void;
  /** A line over the limit: its first bytes, once. The rest is skipped. */
  onLongLine(prefix: Uint8Array): void;
}

interface LineLimits {
  readonly maxBytes: number;
  readonly prefixBytes: number;
}

interface LineSplitter {
  push(chunk: Buffer): void;
  end(): void;
}

/** Cuts a byte stream into lines at `\n` and drops a preceding `\r`. Holds at most the limit. */
export function createLineSplitter(limits: LineLimits, listener: LineListener): LineSplitter {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  let skipping = false;

  const passLine = (bytes: Buffer, start: number, end: number) => {
    if (end - start > limits.maxBytes) listener.onLongLine(bytes.subarray(start, start + limits.prefixBytes));
    else listener.onLine(bytes, start, end > start && bytes[end - 1] === RETURN ? end - 1 : end);
  };
  const forgetPartial = () => {
    partial = [];
    partialBytes = 0;
  };
  const endPartial = (tail: Buffer) => {
    const wasSkipping = skipping;
    skipping = false;
    if (wasSkipping) return;
    const line = concatBytes(tail.length === 0 ? partial : [...partial, tail]);
    forgetPartial();
    passLine(line, 0, line.length);
  };
  const addPartial = (part: Buffer) => {
    if (skipping || part.length === 0) return;
    partial.push(part);
    partialBytes += part.length;
    if (partialBytes <= limits.maxBytes) return;
    listener.onLongLine(concatBytes(partial).subarray(0, limits.prefixBytes));
    forgetPartial();
    skipping = true;
  };

  return {
    push: (chunk) => {
      let start = 0;
      let end = chunk.indexOf(NEWLINE);
      if (end !== -1 && (partialBytes > 0 || skipping)) {
        endPartial(chunk.subarray(0, end));
        start = end + 1;
        end = chunk.indexOf(NEWLINE, start);
      }
      for (; end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        passLine(chunk, start, end);
        start = end + 1;
      }
      if (start < chunk.length) addPartial(chunk.subarray(start));
    },
    end: () => {
      if (partialBytes > 0) endPartial(emptyBytes);
    },
  };
}

const emptyBytes = Buffer.alloc(0);

const NEWLINE = 0x0a;
const RETURN = 0x0d;

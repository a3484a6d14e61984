import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import threads from 'node:worker_threads';
import { formatCount } from '../text/phrases.ts';

/** Writes text to a file descriptor without blocking. */
export interface OutputSink {
  /**
   * Writes whole lines. Up to 4 MiB are buffered for a slow reader; beyond that, texts are dropped and
   * counted.
   */
  write(text: string): void;
}

/**
 * The sink of a descriptor, shared by all its writers so that their output stays in order. A reader that
 * stops reading blocks neither the writers nor the exit of this process.
 */
export function openOutputSink(fd: number): OutputSink {
  const name = nameOf(fd);
  const known = sinks.get(name);
  if (known !== undefined && !known.isOver()) return known;
  const sink = createSink(toNonBlocking(fd));
  sinks.set(name, sink);
  return sink;
}

interface KnownSink extends OutputSink {
  /** Whether the reader has closed it. */
  isOver(): boolean;
  /** At exit: flushes the buffer, as long as the reader keeps reading. */
  finish(): void;
}

const sinks = new Map<string, KnownSink>();
process.on('exit', () => {
  for (const sink of sinks.values()) sink.finish();
});

/** A number is given again once its file is closed. */
function nameOf(fd: number): string {
  try {
    const { dev, ino } = fstatSync(fd);
    return [fd, dev, ino].join();
  } catch {
    return String(fd);
  }
}

const MOST_WAITING_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 20;
/** How long the end of this process waits for a reader that takes nothing any more. */
const EXIT_WAIT_MS = 1_000;

function lostMessage(texts: number): string {
  return `signalbox: ${formatCount(texts, 'message')} dropped here, since nobody read them\n`;
}

function createSink(fd: number): KnownSink {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  const push = (bytes: Buffer) => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
  };
  /** Writes what can be written without waiting; how many bytes that was. */
  const flush = (): number => {
    let sum = 0;
    while (!isOver && waitingBytes > 0) {
      const bytes = Buffer.concat(waiting);
      try {
        const count = writeSync(fd, bytes);
        sum += count;
        waiting = count === bytes.length ? [] : [bytes.subarray(count)];
        waitingBytes = bytes.length - count;
      } catch (error) {
        waiting = [bytes];
        if (isBusy(error)) break;
        // The reader has closed it.
        isOver = true;
      }
      if (waitingBytes === 0 && dropped > 0) {
        push(Buffer.from(lostMessage(dropped)));
        dropped = 0;
      }
    }
    return sum;
  };
  const retry = () => {
    timer = undefined;
    flush();
    if (waitingBytes > 0 && !isOver) timer = setTimeout(retry, RETRY_MS).unref();
  };
  const finish = () => {
    for (let since = performance.now(); waitingBytes > 0 && !isOver; ) {
      if (flush() > 0) since = performance.now();
      else if (performance.now() - since >= EXIT_WAIT_MS) return;
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  };

  return {
    isOver: () => isOver,
    finish,
    write: (text) => {
      if (isOver) return;
      if (waitingBytes > MOST_WAITING_BYTES) {
        dropped += 1;
        return;
      }
      push(Buffer.from(text));
      if (timer === undefined) retry();
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY');
}

/** A non-blocking descriptor for the same stream, if possible; else the given one. */
function toNonBlocking(fd: number): number {
  try {
    const stat = fstatSync(fd);
    if (!stat.isFIFO() && !stat.isSocket()) return fd;
    return (stat.isFIFO() ? reopenNonBlocking(fd) : undefined) ?? makeNonBlocking(fd);
  } catch {
    // It is closed: writing will say so.
    return fd;
  }
}

/**
 * Reopens the stream (Linux only), so that the non-blocking flag does not affect others that share the old
 * descriptor.
 */
function reopenNonBlocking(fd: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Node makes what it takes for a stream non-blocking. */
function makeNonBlocking(fd: number): number {
  // But a worker's stream would close the descriptor of all when the worker ends.
  if (!threads.isMainThread) return fd;
  if (fd === 1) void process.stdout;
  else if (fd === 2) void process.stderr;
  else new Socket({ fd, readable: false, writable: true }).unref();
  return fd;
}

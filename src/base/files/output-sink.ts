import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import threads from 'node:worker_threads';
import { formatCount } from '../text/phrases.ts';

export interface OutputSink {
  /** Writes whole lines. Buffers up to 4 MiB for a slow reader; beyond that, drops and counts the texts. */
  write(text: string): void;
}

/**
 * The sink of a descriptor, shared by all writers to keep their output in order. A reader that stops reading blocks
 * neither the writers nor the exit of this process.
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
  isOver(): boolean;
  finish(): void;
}

const sinks = new Map<string, KnownSink>();
process.on('exit', () => {
  for (const sink of sinks.values()) sink.finish();
});

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
/** How long the exit waits for a reader that has stopped reading. */
const EXIT_WAIT_MS = 1_000;

function lostMessage(texts: number): string {
  return `signalbox: ${formatCount(texts, 'message')} dropped here, because nothing read them\n`;
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

function toNonBlocking(fd: number): number {
  try {
    const stat = fstatSync(fd);
    if (!stat.isFIFO() && !stat.isSocket()) return fd;
    return (stat.isFIFO() ? reopenNonBlocking(fd) : undefined) ?? makeNonBlocking(fd);
  } catch {
    return fd;
  }
}

/** Reopens the stream (Linux only), so that the non-blocking flag does not affect other users of the descriptor. */
function reopenNonBlocking(fd: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

function makeNonBlocking(fd: number): number {
  // A worker's stream would close the descriptor for all threads when the worker ends.
  if (!threads.isMainThread) return fd;
  if (fd === 1) void process.stdout;
  else if (fd === 2) void process.stderr;
  else new Socket({ fd, readable: false, writable: true }).unref();
  return fd;
}

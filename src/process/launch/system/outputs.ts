import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import threads from 'node:worker_threads';
import type { Output, OutputListener } from '../launch.ts';
import { FIONREAD, type Libc, POLLHUP, POLLIN } from './libc.ts';

export interface Outputs {
  readonly stdout: PipeOutput;
  readonly stderr: PipeOutput;
}

/** Sees to it that the outputs of all processes are read: at once after an early end, else by streams. */
export interface OutputReader {
  open(stdout: number, stderr: number): Outputs;
  /** The process has ended: reads what it left, and by streams what others still write. */
  settle(outputs: Outputs): void;
}

export function createOutputReader(libc: Libc): OutputReader {
  const young = new Map<Outputs, number>();
  let isLooking = false;
  const look = () => {
    isLooking = false;
    const now = performance.now();
    for (const [outputs, startedAt] of young) {
      if (now - startedAt >= YOUNG_MS || hasMuch(libc, outputs.stdout) || hasMuch(libc, outputs.stderr)) {
        young.delete(outputs);
        openStreams(outputs);
      }
    }
    lookLater();
  };
  const lookLater = () => {
    if (young.size === 0 || isLooking) return;
    isLooking = true;
    setTimeout(look, LOOK_MS).unref();
  };
  return {
    open: (stdout, stderr) => {
      const outputs = { stdout: new PipeOutput(libc, stdout), stderr: new PipeOutput(libc, stderr) };
      if (threads.isMainThread) {
        young.set(outputs, performance.now());
        lookLater();
      } else {
        // What ends a thread closes its streams, and no bare descriptors.
        openStreams(outputs);
      }
      return outputs;
    },
    settle: (outputs) => {
      if (!young.delete(outputs)) return;
      const [stdout = 0, stderr = 0] = pollOutputs(libc, outputs);
      if (stdout & POLLHUP) outputs.stdout.readRest();
      if (stderr & POLLHUP) outputs.stderr.readRest();
      // What is still held open by others, and what nobody listens to yet.
      openStreams(outputs);
    },
  };
}

/** A process that lives longer gets streams, whatever it says. */
const YOUNG_MS = 20;
/** How often it is looked whether a young process has said much: it must not wait for room in its pipe. */
const LOOK_MS = 2;
/** Half of what a pipe holds: as its pages may be filled by half, no pipe of the usual size is full with less. */
const MUCH_BYTES = 32 * 1024;

// Larger than what is used: memory of up to 64 bytes may move.
const unreadBytes = new Int32Array(new ArrayBuffer(128), 0, 1);

/** Whether so much can be read that who writes may soon have to wait. */
function hasMuch(libc: Libc, output: PipeOutput): boolean {
  if (!output.isUnread || libc.ioctl(output.fd, FIONREAD, unreadBytes) !== 0) return false;
  return (unreadBytes[0] ?? 0) >= MUCH_BYTES;
}

function openStreams({ stdout, stderr }: Outputs): void {
  stdout.open();
  stderr.open();
}

// Source: struct pollfd of <poll.h>: int fd; short events; short revents.
const pollFds = new Int32Array(new ArrayBuffer(128), 0, 4);
const pollEvents = new Int16Array(pollFds.buffer, 0, 8);

function pollOutputs(libc: Libc, { stdout, stderr }: Outputs): readonly number[] {
  // A negative descriptor is passed over.
  pollFds[0] = stdout.isUnread ? stdout.fd : -1;
  pollFds[2] = stderr.isUnread ? stderr.fd : -1;
  pollEvents[2] = POLLIN;
  pollEvents[6] = POLLIN;
  if (libc.poll(pollFds, 2, 0) <= 0) return [0, 0];
  return [pollEvents[3] ?? 0, pollEvents[7] ?? 0];
}

/**
 * Our end of a pipe that a process writes. A process that ends soon and says little costs no stream: what it wrote is read at
 * once when it has ended. For any other one a stream is opened.
 */
class PipeOutput implements Output {
  readonly fd: number;
  readonly #libc: Libc;
  #listener: OutputListener | undefined;
  #opened: Output | undefined;
  #isEnded = false;
  #keepsAlive = true;
  #isToBeOpened = false;

  constructor(libc: Libc, fd: number) {
    this.#libc = libc;
    this.fd = fd;
  }

  get isClosed(): boolean {
    return this.#opened?.isClosed ?? this.#isEnded;
  }

  get isUnread(): boolean {
    return this.#listener !== undefined && this.#opened === undefined && !this.#isEnded;
  }

  listen(listener: OutputListener): void {
    this.#listener = listener;
    if (this.#isEnded) listener.onClose();
    else if (this.#opened !== undefined) this.#opened.listen(listener);
    else if (this.#isToBeOpened) this.open();
  }

  stream(): Readable {
    this.#opened ??= this.#openStream();
    return this.#opened.stream();
  }

  open(): void {
    this.#isToBeOpened = true;
    if (!this.isUnread || this.#listener === undefined) return;
    this.#opened = this.#openStream();
    this.#opened.listen(this.#listener);
  }

  /** Reads what is left in a pipe that nobody can write any more; for who listens only. */
  readRest(): void {
    while (this.isUnread) {
      const count: number = this.#libc.read(this.fd, block, block.length);
      if (count > 0) this.#listener?.onData(Buffer.from(block.subarray(0, count)));
      else this.destroy();
    }
  }

  pause(): void {
    this.#opened?.pause();
  }

  resume(): void {
    this.#opened?.resume();
  }

  keepAlive(keeps: boolean): void {
    this.#keepsAlive = keeps;
    this.#opened?.keepAlive(keeps);
  }

  destroy(): void {
    if (this.#opened !== undefined) {
      this.#opened.destroy();
    } else if (!this.#isEnded) {
      this.#isEnded = true;
      this.#libc.close(this.fd);
      this.#listener?.onClose();
    }
  }

  #openStream(): Output {
    if (this.#isEnded) throw new Error('the output is closed');
    const output = streamOutput(new Socket({ fd: this.fd, readable: true, writable: false }));
    output.keepAlive(this.#keepsAlive);
    return output;
  }
}

const block = Buffer.alloc(64 * 1024);

/** The output that is a stream from the beginning. */
export function streamOutput(stream: Readable): Output {
  return {
    get isClosed() {
      return stream.closed;
    },
    listen: ({ onData, onClose }) => {
      if (stream.closed) return onClose();
      stream.on('data', onData);
      // A read error ends the stream; what was read until then is what there is.
      stream.on('error', () => {});
      stream.once('close', onClose);
    },
    stream: () => stream,
    pause: () => {
      stream.pause();
    },
    resume: () => {
      stream.resume();
    },
    keepAlive: (keeps) => keepNodeAlive(stream, keeps),
    destroy: () => {
      stream.destroy();
    },
  };
}

/** Refs or unrefs a stream or process. Node's types know the streams of a child as streams only. */
export function keepNodeAlive(handle: object | null | undefined, keeps: boolean): void {
  if (!handle || !('ref' in handle) || !('unref' in handle)) return;
  const { ref, unref } = handle;
  if (typeof ref === 'function' && typeof unref === 'function') (keeps ? ref : unref).call(handle);
}

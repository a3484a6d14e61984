import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import threads from 'node:worker_threads';
import { ShortLivedMap } from '../../../base/short-lived.ts';
import type { Output, OutputListener } from '../launch.ts';
import { FIONREAD, type Libc, POLLHUP, POLLIN } from './libc.ts';

export interface Outputs {
  readonly stdout: PipeOutput;
  readonly stderr: PipeOutput;
}

export interface OutputReader {
  open(stdout: number, stderr: number): Outputs;
  /** Call it when the process has ended; outputs that others hold open become streams. */
  settle(outputs: Outputs): void;
}

export function createOutputReader(libc: Libc): OutputReader {
  const young = new ShortLivedMap<Outputs, number>();
  let isLooking = false;
  const look = () => {
    isLooking = false;
    const now = performance.now();
    for (const outputs of young.keys()) {
      const startedAt = young.get(outputs) ?? 0;
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
        // The end of a thread closes streams but not bare descriptors.
        openStreams(outputs);
      }
      return outputs;
    },
    settle: (outputs) => {
      if (!young.delete(outputs)) return;
      const [stdout = 0, stderr = 0] = pollOutputs(libc, outputs);
      if (stdout & POLLHUP) outputs.stdout.readRest();
      if (stderr & POLLHUP) outputs.stderr.readRest();
      openStreams(outputs);
    },
  };
}

const YOUNG_MS = 20;
/** How often young processes are checked, so that none waits for room in its pipe. */
const LOOK_MS = 2;
/** Half of a pipe's capacity: pages may be only half full, so less than this never fills a pipe. */
const MUCH_BYTES = 32 * 1024;

// Larger than needed, since V8 may move buffers of up to 64 bytes.
const unreadBytes = new Int32Array(new ArrayBuffer(128), 0, 1);

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
  pollFds[0] = stdout.isUnread ? stdout.fd : -1;
  pollFds[2] = stderr.isUnread ? stderr.fd : -1;
  pollEvents[2] = POLLIN;
  pollEvents[6] = POLLIN;
  if (libc.poll(pollFds, 2, 0) <= 0) return [0, 0];
  return [pollEvents[3] ?? 0, pollEvents[7] ?? 0];
}

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

  /** Call it once no one can write any more. */
  readRest(): void {
    while (this.isUnread) {
      // Without POLLIN too: poll may look at the bytes before the last write and at the writers after it.
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

export function streamOutput(stream: Readable): Output {
  return {
    get isClosed() {
      return stream.closed;
    },
    listen: ({ onData, onClose }) => {
      if (stream.closed) return onClose();
      stream.on('data', onData);
      // A read error ends the stream; the bytes read so far are the output.
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

/** Node's types lack `ref` and `unref` on a child's streams. */
export function keepNodeAlive(handle: object | null | undefined, keeps: boolean): void {
  if (!handle || !('ref' in handle) || !('unref' in handle)) return;
  const { ref, unref } = handle;
  if (typeof ref === 'function' && typeof unref === 'function') (keeps ? ref : unref).call(handle);
}

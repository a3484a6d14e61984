import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Output, OutputListener } from '../launch.ts';
import type { Libc } from './libc.ts';
import { streamOutput } from './stream-output.ts';

/**
 * Our end of a pipe that a process writes. A process that ends soon and says little costs no stream: what it wrote is read at
 * once when it has ended. For any other one a stream is opened.
 */
export class PipeOutput implements Output {
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

  /** Whether somebody listens to a pipe that nobody reads yet. */
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

  /** Opens a stream for who listens, now or later. */
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

/** As much as a pipe holds by default. */
const block = Buffer.alloc(64 * 1024);

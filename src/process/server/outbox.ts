import type { Writable } from 'node:stream';

/** A line that waits to be written. */
export interface QueuedLine {
  /** Empty once the line is being written or was taken back. */
  text: string;
  readonly onWritten: (() => void) | undefined;
}

/**
 * Lines on their way into a stream, in order. What is sent in one turn of the event loop, or while the reader is busy,
 * leaves in one write, of at most BATCH_LENGTH or one line, so that a line which is in no write yet can be taken back.
 */
export class Outbox {
  readonly #stream: Writable;
  #queue: QueuedLine[] = [];
  /** The length of all queued texts, in UTF-16 units. */
  #queuedLength = 0;
  /** The same in bytes, once somebody had to know. */
  #queuedBytes: number | undefined;
  #writingBytes = 0;
  #withdrawn = 0;
  #isBusy = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Bytes that were queued and are not written yet. */
  get pendingBytes(): number {
    this.#queuedBytes ??= this.#queue.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    return this.#writingBytes + this.#queuedBytes;
  }

  /** Whether no more bytes are pending than that. */
  hasRoom(maxBytes: number): boolean {
    // A unit has at most three bytes, so that most often none has to be counted.
    return this.#writingBytes + 3 * this.#queuedLength <= maxBytes || this.pendingBytes <= maxBytes;
  }

  /** Queues a line. `onWritten` is called when its last byte is written, and never if it is not. */
  send(text: string, onWritten?: () => void): QueuedLine {
    const line = { text, onWritten };
    this.#queue.push(line);
    this.#count(text, 1);
    if (!this.#isBusy) {
      this.#isBusy = true;
      // Behind the promises of this turn, which may send more.
      process.nextTick(() => this.#writeBatch());
    }
    return line;
  }

  /** Takes a line back unless its writing has begun. */
  withdraw(line: QueuedLine): void {
    if (line.text === '') return;
    this.#count(line.text, -1);
    line.text = '';
    this.#withdrawn += 1;
    if (this.#withdrawn * 2 > this.#queue.length) this.#forgetWithdrawn();
  }

  #writeBatch(): void {
    this.#forgetWithdrawn();
    const batch = this.#takeBatch();
    if (batch.length === 0 || !this.#stream.writable) {
      this.#isBusy = false;
      return;
    }
    let text = '';
    for (const line of batch) {
      text += line.text;
      line.text = '';
    }
    this.#count(text, -1);
    this.#writingBytes = Buffer.byteLength(text);
    this.#stream.write(text, (error) => {
      this.#writingBytes = 0;
      if (!error) for (const { onWritten } of batch) onWritten?.();
      this.#writeBatch();
    });
  }

  /** The lines of the next write. */
  #takeBatch(): readonly QueuedLine[] {
    const all = this.#queue;
    if (this.#queuedLength <= BATCH_LENGTH) {
      this.#queue = [];
      return all;
    }
    let length = 0;
    const end = all.findIndex(({ text }) => {
      length += text.length;
      return length > BATCH_LENGTH;
    });
    return all.splice(0, Math.max(end, 1));
  }

  #count(text: string, sign: 1 | -1): void {
    this.#queuedLength += sign * text.length;
    if (this.#queuedLength === 0) this.#queuedBytes = undefined;
    else if (this.#queuedBytes !== undefined) this.#queuedBytes += sign * Buffer.byteLength(text);
  }

  #forgetWithdrawn(): void {
    if (this.#withdrawn === 0) return;
    this.#queue = this.#queue.filter(({ text }) => text !== '');
    this.#withdrawn = 0;
  }
}

/** As much as a pipe holds. */
const BATCH_LENGTH = 64 * 1024;

import type { Writable } from 'node:stream';

/** Lines on their way into a stream, one at a time, so that one not yet begun can be taken back. */
export interface Outbox {
  /** Bytes that were queued and are not written yet. */
  readonly pendingBytes: number;
  /**
   * Queues a line; the returned function takes it back unless its writing has begun. `onWritten` is called
   * when the last byte is written, and never if it is not.
   */
  send(line: Uint8Array, onWritten?: () => void): () => void;
}

/** Writes to the stream in order, never more than one line ahead of what the reader took. */
export function createOutbox(stream: Writable): Outbox {
  const queue: { readonly line: Uint8Array; readonly onWritten: (() => void) | undefined }[] = [];
  let pendingBytes = 0;
  let writing = false;

  const writeNext = () => {
    const next = queue.shift();
    if (next === undefined || !stream.writable) {
      writing = false;
      return;
    }
    writing = true;
    stream.write(next.line, (error) => {
      pendingBytes -= next.line.length;
      if (!error) next.onWritten?.();
      writeNext();
    });
  };

  return {
    get pendingBytes() {
      return pendingBytes;
    },
    send: (line, onWritten) => {
      const entry = { line, onWritten };
      queue.push(entry);
      pendingBytes += line.length;
      if (!writing) writeNext();
      return () => {
        const at = queue.indexOf(entry);
        if (at === -1) return;
        queue.splice(at, 1);
        pendingBytes -= line.length;
      };
    },
  };
}

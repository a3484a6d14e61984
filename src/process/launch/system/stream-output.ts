import type { Readable } from 'node:stream';
import type { Output } from '../launch.ts';

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

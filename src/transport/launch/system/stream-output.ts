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
    destroy: () => {
      stream.destroy();
    },
  };
}

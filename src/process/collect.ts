import { concatBytes } from '../base/files/concat-bytes.ts';
import type { CountedOutput, InFlightBytes } from './in-flight-bytes.ts';
import type { Output } from './launch/launch.ts';

/** The bytes of an output, up to a limit. */
export interface CollectedOutput {
  /** Settles at the end of the output, or once it is destroyed. Never rejects. */
  readonly done: Promise<void>;
  /** Whether `done` has settled. */
  readonly isDone: boolean;
  /** Settles when more bytes came than the limit; later ones are read and discarded. */
  readonly overflowed: Promise<void>;
  /** Everything so far; undefined once it is more than the limit. */
  bytes(): Uint8Array | undefined;
  /** How many bytes came so far, kept or not. */
  length(): number;
  /** Whether it has to wait for room. */
  readonly isPaused: boolean;
  /** Resolves when it is read on, at once unless it has to wait. */
  flowing(): Promise<void>;
  /** It is over and done with: its bytes count no more. Safe to call again. */
  release(): void;
}

/** How an output is collected. */
export interface CollectOptions {
  /** More is read and discarded. */
  readonly maxBytes: number;
  /** What its bytes count for. */
  readonly inFlight?: InFlightBytes | undefined;
  /** It has to wait for room (true), or goes on. */
  readonly onPause?: ((isPaused: boolean) => void) | undefined;
}

/** Reads an output to its end. */
export function collect(output: Output, { maxBytes, inFlight, onPause }: CollectOptions): CollectedOutput {
  const chunks: Buffer[] = [];
  let length = 0;
  const overflowed = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  let pause: PromiseWithResolvers<void> | undefined;
  const counted: CountedOutput = {
    ...{ maxBytes, bytes: 0, isPaused: false },
    pause: () => {
      pause = Promise.withResolvers();
      output.pause();
      onPause?.(true);
    },
    resume: () => {
      onPause?.(false);
      output.resume();
      pause?.resolve();
      pause = undefined;
    },
  };
  inFlight?.outputs.add(counted);
  output.listen({
    onData: (chunk) => {
      length += chunk.length;
      if (length <= maxBytes) {
        chunks.push(chunk);
        if (inFlight !== undefined) count(inFlight, counted, chunk.length);
      } else {
        chunks.length = 0;
        if (inFlight !== undefined) release(inFlight, counted);
        overflowed.resolve();
      }
    },
    onClose: done.resolve,
  });
  return {
    done: done.promise,
    get isDone() {
      return output.isClosed;
    },
    overflowed: overflowed.promise,
    bytes: () => (length > maxBytes ? undefined : concatBytes(chunks)),
    length: () => length,
    get isPaused() {
      return pause !== undefined;
    },
    flowing: async () => await pause?.promise,
    release: () => {
      if (inFlight !== undefined) release(inFlight, counted);
    },
  };
}

/** So many bytes more were collected. */
function count(room: InFlightBytes, output: CountedOutput, bytes: number): void {
  if (!room.outputs.has(output)) return;
  output.bytes += bytes;
  room.used += bytes;
  if (room.used > room.most) room.most = room.used;
  if (room.used > room.maxBytes / 2) room.restrict(output);
}

/** Its bytes count no more. Safe to call again. */
function release(room: InFlightBytes, output: CountedOutput): void {
  if (!room.outputs.delete(output)) return;
  room.used -= output.bytes;
  if (output.isPaused) room.unrestrict(output);
  if (room.waiting.size > 0 || room.paused > 0) room.share();
}

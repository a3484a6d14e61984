import { ShortLivedMap } from '../base/short-lived.ts';
import { concatBytes } from '../base/text/bytes.ts';
import { whenAborted } from '../base/time/async.ts';
import { abortedError } from '../base/time/deadline.ts';
import type { Output } from './launch/launch.ts';

interface CountedOutput {
  readonly maxBytes: number;
  readonly pause: () => void;
  readonly resume: () => void;
  bytes: number;
  isPaused: boolean;
}

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

/**
 * Bounds the bytes of running requests and collected outputs. A request larger than the limit runs alone. At the limit
 * only the oldest output is read on, so that one always finishes.
 */
export class InFlightBytes {
  readonly maxBytes: number;
  readonly waiting = new Set<Waiting>();
  readonly outputs = new ShortLivedMap<CountedOutput, null>();
  used = 0;
  most = 0;
  running = 0;
  paused = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** The caller must give the room back. Throws ABORTED if the signal aborts first. */
  wait(bytes: number, name: string, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { bytes, start: resolve };
    this.waiting.add(waiting);
    const forget =
      signal &&
      whenAborted(signal, () => {
        if (!this.waiting.delete(waiting)) return;
        reject(abortedError(name, signal));
        this.share();
      });
    return promise.finally(() => forget?.());
  }

  restrict(output: CountedOutput): void {
    if (output.isPaused || this.used <= this.#readableBytes() || this.#isOldest(output)) return;
    output.isPaused = true;
    this.paused += 1;
    output.pause();
  }

  /** Outputs come first, since they finish work. */
  share(): void {
    for (const output of this.outputs.keys()) {
      if (!this.#isOldest(output) && this.used > this.#readableBytes()) break;
      this.unrestrict(output);
    }
    for (const waiting of this.waiting) {
      if (!hasRoom(this, waiting.bytes)) return;
      this.waiting.delete(waiting);
      this.running += 1;
      this.used += waiting.bytes;
      this.most = Math.max(this.most, this.used);
      waiting.start();
    }
  }

  unrestrict(output: CountedOutput): void {
    if (!output.isPaused) return;
    output.isPaused = false;
    this.paused -= 1;
    output.resume();
  }

  /** Reserves room for the oldest output to finish at any length, but never more than half of the limit. */
  #readableBytes(): number {
    let longest = 0;
    for (const { maxBytes } of this.outputs.keys()) longest = Math.max(longest, maxBytes);
    return Math.max(this.maxBytes / 2, this.maxBytes - longest);
  }

  #isOldest(output: CountedOutput): boolean {
    const [oldest] = this.outputs.keys();
    return oldest === output;
  }
}

function hasRoom({ running, used, maxBytes }: InFlightBytes, bytes: number): boolean {
  return running === 0 || used + bytes <= maxBytes;
}

export interface CollectedOutput {
  /** Settles at the end of the output, or once it is destroyed. Never rejects. */
  readonly done: Promise<void>;
  isDone(): boolean;
  readonly overflowed: Promise<void>;
  bytes(): Uint8Array | undefined;
  length(): number;
  isPaused(): boolean;
  flowing(): Promise<void>;
  /** Stops counting the output's bytes. Safe to call again. */
  release(): void;
}

export interface CollectOptions {
  readonly maxBytes: number;
  readonly inFlight?: InFlightBytes | undefined;
  readonly onPause?: ((isPaused: boolean) => void) | undefined;
}

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
  inFlight?.outputs.set(counted, null);
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
    isDone: () => output.isClosed,
    overflowed: overflowed.promise,
    bytes: () => (length > maxBytes ? undefined : concatBytes(chunks)),
    length: () => length,
    isPaused: () => pause !== undefined,
    flowing: async () => await pause?.promise,
    release: () => {
      if (inFlight !== undefined) release(inFlight, counted);
    },
  };
}

function count(room: InFlightBytes, output: CountedOutput, bytes: number): void {
  if (!room.outputs.has(output)) return;
  output.bytes += bytes;
  room.used += bytes;
  if (room.used > room.most) room.most = room.used;
  if (room.used > room.maxBytes / 2) room.restrict(output);
}

function release(room: InFlightBytes, output: CountedOutput): void {
  if (!room.outputs.delete(output)) return;
  room.used -= output.bytes;
  if (output.isPaused) room.unrestrict(output);
  if (room.waiting.size > 0 || room.paused > 0) room.share();
}

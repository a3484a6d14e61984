import { RuntimeError } from '../../base/errors.ts';
import type { StoppedAnswer } from './window-pieces.ts';

/**
 * A way on which streamed answers go out, in the form of its events: parts of the AI SDK, or server-sent events. What is
 * yielded goes out.
 */
export interface StreamDoor<Event, Chunk> {
  /** The next event of the answer; undefined when it is complete. Throws when the upstream fails. */
  next(): AsyncGenerator<Chunk, Event | undefined>;
  /** Takes an event in, and asks filters about text that is due; returns what stopped it. */
  take(event: Event): AsyncGenerator<Chunk, StoppedAnswer | undefined>;
  /** What filters have let pass by now. */
  release(): Iterable<Chunk>;
  /** Asks about the whole answer, and sends what is left of it or what comes in its place. */
  conclude(): AsyncGenerator<Chunk, void>;
  /** Ends the upstream's answer. */
  abandon(reason: unknown): void;
  /** Tells observers of the answer as far as it came; what comes in the place of all that is held. */
  breakOff(stopped: StoppedAnswer): AsyncGenerator<Chunk, void>;
  /** The end of a stream that failed: nothing of what is held. */
  fail(error: unknown): AsyncGenerator<Chunk, void>;
}

/**
 * Takes a streamed answer through the hooks: held until it is complete, or with its text behind a window, as the door
 * releases it. Rejects only with what `fail` throws.
 */
export async function* passAnswer<Event, Chunk>(door: StreamDoor<Event, Chunk>): AsyncGenerator<Chunk, void> {
  try {
    for (;;) {
      const event = yield* door.next();
      if (event === undefined) return yield* door.conclude();
      const stopped = yield* door.take(event);
      yield* door.release();
      if (stopped === undefined) continue;
      door.abandon(new RuntimeError('DENIED', 'a filter stopped the answer'));
      return yield* door.breakOff(stopped);
    }
  } catch (error) {
    yield* door.fail(error);
  }
}

import type { RunEvent } from '../../contract/event.ts';

/** The events of a run on their way to one reader, who may be slow, or gone. */
export interface EventQueue {
  /** Never waits. What a reader has not read while much more came is dropped, the oldest first, and counted. */
  push(event: RunEvent): void;
  /** No event follows; `error`: why the run could not go on. */
  end(error?: unknown): void;
  /** What is left of the events, and those to come. */
  readonly reader: AsyncIterableIterator<RunEvent>;
}

/** `toShown` gives what the reader gets of an event. */
export function openEventQueue(toShown: (event: RunEvent) => RunEvent): EventQueue {
  let waiting: RunEvent[] = [];
  let size = 0;
  let dropped = 0;
  let end: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  const take = (): RunEvent | undefined => {
    const [first] = waiting;
    if (first === undefined) return undefined;
    if (dropped > 0) {
      const { run } = first;
      const gap = { type: 'events.dropped', run, count: dropped } as const;
      dropped = 0;
      return gap;
    }
    waiting.shift();
    size -= sizeOf(first);
    return first;
  };
  const next = async (): Promise<IteratorResult<RunEvent>> => {
    for (;;) {
      const event = take();
      if (event !== undefined) return { value: toShown(event), done: false };
      if (end !== undefined) {
        const { error } = end;
        end = {};
        if (error !== undefined) throw error;
        return { value: undefined, done: true };
      }
      await new Promise<void>((resolve) => {
        const others = wake;
        wake = () => {
          others?.();
          resolve();
        };
      });
    }
  };
  const tell = () => {
    const waker = wake;
    wake = undefined;
    waker?.();
  };
  return {
    push: (event) => {
      if (end !== undefined) return;
      waiting.push(event);
      size += sizeOf(event);
      while (waiting.length > MOST_EVENTS || (size > MOST_CHARACTERS && waiting.length > 1)) {
        const oldest = waiting.shift();
        size -= oldest === undefined ? 0 : sizeOf(oldest);
        dropped += 1;
      }
      tell();
    },
    end: (error) => {
      end ??= error === undefined ? {} : { error };
      tell();
    },
    reader: {
      next,
      return: async () => {
        end = {};
        waiting = [];
        dropped = 0;
        tell();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    },
  };
}

/** What waits for a slow reader at most. */
const MOST_EVENTS = 1_000;
const MOST_CHARACTERS = 1_000_000;

/** Characters, about: of what may be long in it. */
function sizeOf(event: RunEvent): number {
  switch (event.type) {
    case 'text':
      return event.text.length;
    case 'pending.opened':
      return event.message.length + event.reason.length;
    default:
      return 'error' in event ? (event.error?.message.length ?? 0) : 0;
  }
}

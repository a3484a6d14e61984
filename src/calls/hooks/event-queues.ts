import { formatCount } from '../../base/text/format-count.ts';
import type { Emit } from '../../contract/event.ts';

/** Events a hook may be behind before the newest are dropped. */
const QUEUE_LENGTH = 1024;

/** What is underway at the end has begun a little later than the close, and is to end by its own limit. */
const UNDERWAY_MS = 250;

/** What a limit has to know of a queue, and to do with it; a PQueue has all of it. */
export interface LimitedQueue {
  /** How many wait, without those underway. */
  readonly size: number;
  /** Forgets those that wait. */
  clear(): void;
  /** Resolves when none waits and none is underway. */
  onIdle(): Promise<void>;
}

/** The shared limit and end of the queues of hooks that nobody awaits. */
interface QueueLimit {
  /** Aborts when what is still waiting is dropped. */
  readonly signal: AbortSignal;
  /** Whether a hook is too many events behind for one more, whose drop is then emitted. */
  isFull(name: string, waiting: number, phase: string): boolean;
  /** Waits for what is queued, at most that long; the rest is dropped. Never rejects. */
  close(limitMs: number): Promise<void>;
}

/** Puts the queues of hooks that nobody awaits under one limit and one end; `stop` drops the queued events. */
export function limitQueues(
  queues: readonly (readonly [hook: string, queue: LimitedQueue])[],
  emit: Emit,
  stop: AbortSignal | undefined,
): QueueLimit {
  const abortController = new AbortController();
  const drops = createDropReport(emit, QUEUE_LENGTH);
  const forget = () => {
    for (const [name, queue] of queues) {
      const detail = `${formatCount(queue.size, 'event')} still waiting when the runtime closed`;
      if (queue.size > 0) emit({ type: 'dropped', name, what: 'observer event', detail });
      queue.clear();
    }
  };
  const abandon = () => {
    forget();
    abortController.abort();
  };
  stop?.addEventListener('abort', abandon, { once: true });
  return {
    signal: abortController.signal,
    isFull: (name: string, waiting: number, phase: string) => {
      if (waiting >= QUEUE_LENGTH) drops.add(name, phase);
      else if (waiting < QUEUE_LENGTH / 2) drops.end(name);
      return waiting >= QUEUE_LENGTH;
    },
    close: async (limitMs: number) => {
      const timers = [setTimeout(forget, limitMs), setTimeout(abandon, limitMs + UNDERWAY_MS)];
      await Promise.all(queues.map(([, queue]) => queue.onIdle()));
      for (const timer of timers) clearTimeout(timer);
      for (const [name] of queues) drops.end(name);
      stop?.removeEventListener('abort', abandon);
    },
  };
}

/** Says what is dropped of full queues, without a line for every event of a flood. */
interface DropReport {
  /** An event of that phase did not fit into the queue of the hook. */
  add(name: string, phase: string): void;
  /** The queue has room again, or is closed: what was not said yet is said. */
  end(name: string): void;
}

/** Emits each of the first drops of a queue that is full, then how many there were each time that number has doubled. */
export function createDropReport(emit: Emit, queueLength: number): DropReport {
  const floods = new Map<string, Flood>();
  const drop = (name: string, detail: string) =>
    emit({ type: 'dropped', name, what: 'observer event', detail });
  return {
    add: (name, phase) => {
      const flood = floods.get(name) ?? { count: 0, said: 0 };
      flood.count += 1;
      floods.set(name, flood);
      if (flood.count <= EACH) drop(name, `${phase}: ${queueLength} events are waiting already`);
      else if (flood.count < 2 * flood.said) return;
      else drop(name, `${flood.count} events so far: ${queueLength} events are waiting already`);
      flood.said = flood.count;
    },
    end: (name) => {
      const { count = 0, said = 0 } = floods.get(name) ?? {};
      if (count > said)
        drop(name, `${count} events in all, while ${queueLength} events were waiting already`);
      if (count > 0) floods.delete(name);
    },
  };
}

interface Flood {
  count: number;
  /** The last count that was said. */
  said: number;
}

/** How many drops of a flood are said one by one. */
const EACH = 16;

import type PQueue from 'p-queue';
import type { Emit } from '../contract/event.ts';

/** Events a hook may be behind before the newest are dropped. */
const QUEUE_LENGTH = 1024;

/** The shared limit and end of the queues of hooks that nobody awaits. */
export interface QueueLimit {
  /** Aborts when what is still waiting is dropped. */
  readonly signal: AbortSignal;
  /** Whether a hook is too many events behind for one more, whose drop is then emitted. */
  isFull(name: string, waiting: number, phase: string): boolean;
  /** Waits for what is queued, at most that long; the rest is dropped. Never rejects. */
  close(limitMs: number): Promise<void>;
}

/** Puts the queues of hooks that nobody awaits under one limit and one end; `stop` drops the queued events. */
export function limitQueues(
  queues: readonly (readonly [hook: string, queue: PQueue])[],
  emit: Emit,
  stop: AbortSignal | undefined,
): QueueLimit {
  const abortController = new AbortController();
  const drop = (name: string, detail: string) =>
    emit({ type: 'dropped', name, what: 'observer event', detail });
  const abandon = () => {
    for (const [name, queue] of queues) {
      if (queue.size > 0) drop(name, `${queue.size} events were still waiting when the runtime closed`);
      queue.clear();
    }
    abortController.abort();
  };
  stop?.addEventListener('abort', abandon, { once: true });
  return {
    signal: abortController.signal,
    isFull: (name: string, waiting: number, phase: string) => {
      if (waiting < QUEUE_LENGTH) return false;
      drop(name, `${phase}: ${QUEUE_LENGTH} events are waiting already`);
      return true;
    },
    close: async (limitMs: number) => {
      const timer = setTimeout(abandon, limitMs);
      await Promise.all(queues.map(([, queue]) => queue.onIdle()));
      clearTimeout(timer);
      stop?.removeEventListener('abort', abandon);
    },
  };
}

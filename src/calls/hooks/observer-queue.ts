import { setImmediate as nextTurn } from 'node:timers/promises';
import { toRuntimeError } from '../../base/errors.ts';
import { unwatched } from '../../base/time/stopwatch.ts';
import type { Answer, NativeEvent } from '../../contract/hook.ts';
import { askHook, type FilterPort } from '../capability/hook.ts';
import { type Port, trackCall } from '../capability/invoke.ts';
import { type LimitedQueue, limitQueues } from './event-queues.ts';

/** Delivers events to a hook that is not awaited. */
export interface ObserverQueue {
  /**
   * Queues the event and returns at once; if the queue is full, the event is dropped and a `dropped` event
   * emitted.
   */
  enqueue(event: NativeEvent, call: string): void;
  /** Waits for what is queued, at most the hook's timeout; the rest is dropped. Never rejects. */
  close(): Promise<void>;
}

/** The queue of a hook in `observe` mode, whose replies are ignored. `stop` drops the queued events. */
export function openObserver(port: Port<NativeEvent, Answer>, stop?: AbortSignal): ObserverQueue {
  return openQueue(port, stop, (queued) => notifyObserver(port, queued));
}

/** The queue of a hook in `shadow` mode, which is asked like a filter; its verdict is only emitted. */
export function openShadow(port: FilterPort, stop?: AbortSignal): ObserverQueue {
  return openQueue(port, stop, async ({ event, call, signal }) => {
    await askHook(port, { input: event, call, signal });
  });
}

/**
 * Handles events in order, one at a time. The caller does not wait, and nothing is written for the hook in the turn of
 * the event loop in which the event happens.
 */
function openQueue(
  { binding, emit }: Port<NativeEvent, Answer>,
  stop: AbortSignal | undefined,
  handle: (queued: QueuedEvent) => Promise<void>,
): ObserverQueue {
  const waiting: Pick<QueuedEvent, 'event' | 'call'>[] = [];
  let draining: Promise<void> | undefined;
  let isUnderway = false;
  // The first event of an idle queue is as good as underway.
  const countWaiting = () => waiting.length - (isUnderway || waiting.length === 0 ? 0 : 1);
  const drain = async () => {
    await nextTurn();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      isUnderway = true;
      await handle({ ...next, signal }).catch(() => {});
      isUnderway = false;
    }
    draining = undefined;
  };
  const queue: LimitedQueue = {
    get size() {
      return countWaiting();
    },
    clear: () => {
      waiting.splice(isUnderway ? 0 : 1);
    },
    onIdle: async () => {
      while (draining !== undefined) await draining;
    },
  };
  const { signal, isFull, close } = limitQueues([[binding.name, queue]], emit, stop);
  return {
    enqueue: (event, call) => {
      // What the queue would be if this one were in it already.
      if (isFull(binding.name, isUnderway ? waiting.length : waiting.length - 1, event.phase)) return;
      waiting.push({ event, call });
      draining ??= unwatched(drain);
    },
    close: () => close(binding.timeoutMs),
  };
}

interface QueuedEvent {
  readonly event: NativeEvent;
  readonly call: string;
  readonly signal: AbortSignal;
}

/** Sends the event to the observer; a failure is only reported as `call.finished`. Never rejects. */
async function notifyObserver(
  port: Port<NativeEvent, Answer>,
  { event, call, signal }: QueuedEvent,
): Promise<void> {
  const { run, finish: finished } = trackCall(port.emit, 'hook', { name: port.binding.name, call });
  try {
    const reply = await run(() => port.transport.exchange(port.codec.encode(event), signal));
    const clean = reply.via === 'rpc' || reply.exitCode === 0;
    if (clean) finished({ status: 'told' });
    else finished({ status: 'untold', error: exitFault(reply.exitCode, reply.signal) });
  } catch (error) {
    const { code, message } = toRuntimeError(error);
    finished({ status: 'untold', error: { code, message } });
  }
}

function exitFault(exitCode: number | null, signal: string | null) {
  return signal === null
    ? { code: 'PROCESS_EXIT', message: `the observer exited with code ${exitCode}` }
    : { code: 'PROCESS_SIGNAL', message: `the observer was ended by ${signal}` };
}

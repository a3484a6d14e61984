import { setImmediate as nextTurn } from 'node:timers/promises';
import { toRuntimeError } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { unwatched } from '../../base/time/stopwatch.ts';
import type { Emit } from '../../contract/event.ts';
import type { Answer, NativeEvent } from '../../contract/hook.ts';
import { keepContext } from '../../contract/operation.ts';
import { askHook, type FilterPort } from '../capability/hook.ts';
import { type Port, trackCall, withTrace } from '../capability/invoke.ts';

export interface ObserverQueue {
  /** Returns at once. If the queue is full, drops the event and emits `dropped`. */
  enqueue(event: NativeEvent, call: string): void;
  /** Waits for queued events, at most the hook's timeout, and drops the rest. Never rejects. */
  close(): Promise<void>;
}

/** Opens the queue of a hook in `observe` mode, whose replies are ignored. `stop` drops the queued events. */
export function openObserver(port: Port<NativeEvent, Answer>, stop?: AbortSignal): ObserverQueue {
  return openQueue(port, stop, (queued) => notifyObserver(port, queued));
}

/** Opens the queue of a hook in `shadow` mode, which is called like a filter. Its verdict is only emitted. */
export function openShadow(port: FilterPort, stop?: AbortSignal): ObserverQueue {
  return openQueue(port, stop, async ({ event, call, signal }) => {
    await askHook(port, { input: event, call, signal });
  });
}

/** Handles events in order, one at a time. Writes to the hook only after the event loop turn of the event. */
function openQueue(
  { binding, emit }: Port<NativeEvent, Answer>,
  stop: AbortSignal | undefined,
  handle: (queued: QueuedEvent) => Promise<void>,
): ObserverQueue {
  const waiting: (Pick<QueuedEvent, 'event' | 'call'> & {
    readonly inContext: ReturnType<typeof keepContext>;
  })[] = [];
  let draining: Promise<void> | undefined;
  let isUnderway = false;
  const countWaiting = () => waiting.length - (isUnderway || waiting.length === 0 ? 0 : 1);
  const drain = async () => {
    await nextTurn();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      isUnderway = true;
      const { event, call, inContext } = next;
      await inContext(() => handle({ event, call, signal })).catch(() => {});
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
      if (isFull(binding.name, isUnderway ? waiting.length : waiting.length - 1, event.phase)) return;
      waiting.push({ event, call, inContext: keepContext() });
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

async function notifyObserver(
  port: Port<NativeEvent, Answer>,
  { event, call, signal }: QueuedEvent,
): Promise<void> {
  const { name } = port.binding;
  const span = port.emit.startHook?.({ hook: name, kind: event.hook, phase: event.phase, mode: 'observe' });
  const { run, finish } = trackCall(port.emit, 'hook', { name, call });
  const finished = (end: Parameters<typeof finish>[0]) => {
    const took = finish(end);
    span?.end({ ...took, error: end.error });
  };
  try {
    const message = withTrace(port.codec.encode(event), span?.trace);
    const reply = await run(() => port.transport.exchange(message, signal));
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

const QUEUE_LENGTH = 1024;

/** A running exchange may have begun after `close`. This extra time lets its own timeout end it. */
const UNDERWAY_MS = 250;

export interface LimitedQueue {
  readonly size: number;
  clear(): void;
  onIdle(): Promise<void>;
}

interface QueueLimit {
  readonly signal: AbortSignal;
  isFull(name: string, waiting: number, phase: string): boolean;
  close(limitMs: number): Promise<void>;
}

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

interface DropReport {
  add(name: string, phase: string): void;
  end(name: string): void;
}

/** Emits the first drops of a full queue one by one, then a count each time it has doubled. */
function createDropReport(emit: Emit, queueLength: number): DropReport {
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
  said: number;
}

const EACH = 16;

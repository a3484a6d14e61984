import PQueue from 'p-queue';
import { askHook, type FilterPort } from '../capability/hook.ts';
import { announce, type Port } from '../capability/invoke.ts';
import type { Answer, NativeEvent } from '../contract/hook.ts';
import { toRuntimeError } from '../errors.ts';
import { unwatched } from '../time/stopwatch.ts';

/** Takes events to a hook that nobody waits for. */
export interface Follower {
  /** Queues the event and returns at once; with a full queue the event is dropped and said to be. */
  tell(event: NativeEvent, call: string): void;
  /** Waits for what is queued, at most the hook's timeout; the rest is dropped. Never rejects. */
  close(): Promise<void>;
}

/** A hook in `observe` mode: told, never asked. `stop` drops whatever is still to be told. */
export function openObserver(port: Port<NativeEvent, Answer>, stop?: AbortSignal): Follower {
  return openFollower(port, stop, (telling) => tellOne(port, telling));
}

/** A hook in `shadow` mode: asked as a filter is, and its verdict only recorded. */
export function openShadow(port: FilterPort, stop?: AbortSignal): Follower {
  return openFollower(port, stop, async ({ event, call, signal }) => {
    await askHook(port, { input: event, call, signal });
  });
}

/** Events a hook may be behind before the newest are dropped. */
const QUEUE_LENGTH = 1024;

/** Handles events in order, one at a time, behind the caller's back. */
function openFollower(
  port: Port<NativeEvent, Answer>,
  stop: AbortSignal | undefined,
  handle: (telling: Telling) => Promise<void>,
): Follower {
  const { name } = port.binding;
  const queue = new PQueue({ concurrency: 1 });
  const giveUp = new AbortController();
  const drop = (detail: string) => port.emit({ type: 'dropped', name, what: 'observer event', detail });
  const abandon = () => {
    if (queue.size > 0) drop(`${queue.size} events were still waiting when the runtime closed`);
    queue.clear();
    giveUp.abort();
  };
  stop?.addEventListener('abort', abandon, { once: true });
  return {
    tell: (event, call) => {
      if (queue.size >= QUEUE_LENGTH) drop(`${event.phase}: ${QUEUE_LENGTH} events are waiting already`);
      else queue.add(() => unwatched(() => handle({ event, call, signal: giveUp.signal }))).catch(() => {});
    },
    close: async () => {
      const timer = setTimeout(abandon, port.binding.timeoutMs);
      await queue.onIdle();
      clearTimeout(timer);
      stop?.removeEventListener('abort', abandon);
    },
  };
}

interface Telling {
  readonly event: NativeEvent;
  readonly call: string;
  readonly signal: AbortSignal;
}

/** The reply is not read; a failure is told as an event and swallowed. */
async function tellOne(port: Port<NativeEvent, Answer>, { event, call, signal }: Telling): Promise<void> {
  const { run, finish: finished } = announce(port.emit, 'hook', { name: port.binding.name, call });
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

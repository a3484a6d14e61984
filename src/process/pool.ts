import { setImmediate as nextTurn } from 'node:timers/promises';
import PQueue from 'p-queue';
import { isCancelled, RuntimeError, toRuntimeError } from '../base/errors.ts';
import { whenAborted } from '../base/time/async.ts';
import { abortedError, waitForSettled } from '../base/time/deadline.ts';
import { currentFence, type Fence } from '../base/time/fence.ts';
import { currentClock, inSlot, type QueueClock } from '../base/time/stopwatch.ts';
import { currentTurn, inTurnOf, TurnQueue } from '../base/time/turns.ts';
import type { Measures } from '../contract/event.ts';
import { currentTrace } from '../contract/operation.ts';
import { currentProgress } from '../contract/progress.ts';
import type { Binding } from './binding.ts';
import type { InFlightBytes } from './in-flight-bytes.ts';
import type { ProcessContext } from './process.ts';
import type { AskedExchange, Message, Reply, Transport } from './transport.ts';

/** No caller overtakes the queue; callers of several keys get slots in turn. */
export class Pool {
  readonly #concurrency: number;
  readonly #queue: PQueue<TurnQueue>;
  #taken = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
    this.#queue = new PQueue({ concurrency, queueClass: TurnQueue });
  }

  take(): boolean {
    if (this.#queue.size > 0 || this.#taken + this.#queue.pending >= this.#concurrency) return false;
    this.#taken += 1;
    return true;
  }

  giveBack(): void {
    this.#taken -= 1;
    if (this.#queue.size > 0) this.#shareSlots();
  }

  /** Queues behind earlier work of the same caller. Rejects waiting work when the signal aborts. */
  async add<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    this.#shareSlots();
    return await this.#queue.add(work, signal === undefined ? {} : { signal });
  }

  #shareSlots(): void {
    const left = this.#concurrency - this.#taken;
    if (left < 1) {
      this.#queue.pause();
      return;
    }
    this.#queue.concurrency = left;
    if (this.#queue.isPaused) this.#queue.start();
  }
}

export function createPool(concurrency: number): Pool {
  return new Pool(concurrency);
}

/**
 * An exchange takes a slot of its entry, one of the pool and room for its bytes; only then does its timeout start. An
 * aborted exchange leaves the queue. Notifications take no slot.
 *
 * A fence admits an exchange after it has its slot, since no journal can undo a message sent for a run that this
 * process does not hold. Rejects with the fence's error.
 */
export function withPool(
  transport: Transport,
  binding: Pick<Binding, 'name' | 'concurrency'> & Partial<Pick<Binding, 'capability'>>,
  pool: Pool,
  { inFlight, emit, entry = binding.name }: PoolOptions = {},
): Transport {
  const { name } = binding;
  const measures = emit?.measures;
  const own = Number.isFinite(binding.concurrency) ? createPool(binding.concurrency) : undefined;
  const takeSlots = (bytes: number) => {
    if (own?.take() === false) return false;
    if (pool.take()) {
      if (inFlight === undefined || takeRoom(inFlight, bytes)) return true;
      pool.giveBack();
    }
    own?.giveBack();
    return false;
  };
  const leave: Leave = (bytes, clock, at) => {
    clock?.change('working', -1, at);
    if (inFlight !== undefined) giveRoomBack(inFlight, bytes);
    pool.giveBack();
    own?.giveBack();
  };
  const inSlots = <Result>(
    { message, signal, clock, timer }: Asked,
    work: (hasWaited: boolean) => Promise<Result>,
    replyOf: (result: Result) => Reply | undefined,
  ): Promise<Result> => {
    const bytes = sizeOf(message);
    if (signal?.aborted || !takeSlots(bytes)) {
      const enter = (slotted: () => Promise<Result>) => {
        const start = () =>
          inFlight === undefined ? slotted() : inRoom(inFlight, slotted, { message, name, signal });
        // A queue runs work in the async context of the previous work.
        const turn = currentTurn();
        const shared = () => inTurnOf(turn, () => enqueue(pool, start, name, signal));
        // The entry's own slot comes first, so that waiting for it holds no slot of other entries.
        return own === undefined ? shared() : enqueue(own, shared, name, signal);
      };
      const slotted = () => {
        timer?.start(true);
        return work(true);
      };
      const waited = inSlot(slotted, enter, clock);
      if (timer !== undefined)
        waited.then(
          (result) => timer.end(replyOf(result)),
          (thrown) => timer.end(undefined, thrown),
        );
      return waited;
    }
    clock?.change('working', 1, timer?.start(false));
    const done = work(false);
    done.then(
      (result) => leave(bytes, clock, timer?.end(replyOf(result))),
      (thrown) => leave(bytes, clock, timer?.end(undefined, thrown)),
    );
    return done;
  };
  /** Here and not in the message of the caller, so that a recording does not have it. */
  const withCaller = (message: Message): Message => {
    const trace = message.trace ?? currentTrace();
    const onProgress = binding.capability === 'tool' ? currentProgress() : undefined;
    if (trace === message.trace && onProgress === undefined) return message;
    return { ...message, ...(trace && { trace }), ...(onProgress && { onProgress }) };
  };
  return {
    ...transport,
    ...(transport.ask && {
      ask: (message, asked) => {
        const bytes = sizeOf(message);
        if (currentFence() !== undefined || asked.signal?.aborted || !takeSlots(bytes)) return false;
        const inSlot = new InSlot(asked, leave, bytes);
        inSlot.clock = asked.clock ?? currentClock();
        inSlot.timer = measures && new ExchangeTimer(measures, entry);
        inSlot.clock?.change('working', 1, inSlot.timer?.start(false));
        if (transport.ask?.(withCaller(message), inSlot)) return true;
        leave(bytes, inSlot.clock);
        return false;
      },
    }),
    exchange: (given, signal, clock = currentClock()) => {
      const fence = currentFence();
      const message = withCaller(given);
      const timer = measures && new ExchangeTimer(measures, entry);
      const asked = { message, signal, clock, timer };
      if (fence === undefined)
        return inSlots(
          asked,
          () => transport.exchange(message, signal),
          (reply) => reply,
        );
      const admitted = (hasWaited: boolean) =>
        admitAndSend(transport, fence, { name, message, signal, hasWaited });
      return exchangeFenced({ name, signal }, () =>
        inSlots(asked, admitted, (entered) => ('reply' in entered ? entered.reply : undefined)),
      );
    },
  };
}

interface PoolOptions extends Partial<Pick<ProcessContext, 'inFlight' | 'emit'>> {
  /** The name for metrics; default: that of the binding. */
  readonly entry?: string;
}

/** Measures an exchange from the wish for a slot on. An exchange that never got one is not counted. */
class ExchangeTimer {
  readonly #measures: Measures;
  readonly #entry: string;
  readonly #askedAt = performance.now();
  #startedAt: number | undefined;

  constructor(measures: Measures, entry: string) {
    this.#measures = measures;
    this.#entry = entry;
  }

  /** Returns the time, as `end` does. */
  start(hasWaited: boolean): number {
    this.#startedAt = hasWaited ? performance.now() : this.#askedAt;
    return this.#startedAt;
  }

  end(reply: Reply | undefined, thrown?: unknown): number {
    const startedAt = this.#startedAt;
    const now = performance.now();
    if (startedAt === undefined) return now;
    const took = { queueMs: startedAt - this.#askedAt, durationMs: now - startedAt };
    const isStopped = thrown !== undefined && isCancelled(toRuntimeError(thrown));
    const status = reply !== undefined && isClean(reply) ? 'ok' : 'failed';
    this.#measures.exchange(this.#entry, isStopped ? 'cancelled' : status, took);
    return now;
  }
}

function isClean(reply: Reply): boolean {
  if (reply.via === 'rpc') return reply.error === undefined;
  const { exitCode, httpStatus } = reply;
  return httpStatus === undefined ? exitCode === 0 : httpStatus < 400;
}

interface Asked extends Pick<AskedExchange, 'signal' | 'clock'> {
  readonly message: Message;
  readonly timer: ExchangeTimer | undefined;
}

/** Gives the slots back before the caller continues. */
class InSlot implements AskedExchange {
  readonly signal: AbortSignal | undefined;
  clock: QueueClock | undefined;
  timer: ExchangeTimer | undefined;
  readonly #asked: AskedExchange;
  readonly #leave: Leave;
  readonly #bytes: number;

  constructor(asked: AskedExchange, leave: Leave, bytes: number) {
    this.signal = asked.signal;
    this.#asked = asked;
    this.#leave = leave;
    this.#bytes = bytes;
  }

  onReply(reply: Reply): void {
    if (this.#hasLeft(reply)) this.#asked.onReply(reply);
  }

  onError(error: unknown): void {
    if (this.#hasLeft(undefined, error)) this.#asked.onError(error);
  }

  #hasLeft(reply: Reply | undefined, error?: unknown): boolean {
    try {
      this.#leave(this.#bytes, this.clock, this.timer?.end(reply, error));
      return true;
    } catch (thrown) {
      // Nothing else would catch it, and the caller would wait forever.
      this.#asked.onError(thrown);
      return false;
    }
  }
}

type Leave = (bytes: number, clock: QueueClock | undefined, at?: number) => void;

/** The reply, or nothing was sent: the store is slow (`admission` settles later) or the admission expired. */
type Entered = { readonly reply: Reply } | { readonly admission?: Promise<void> };

async function exchangeFenced(
  { name, signal }: { readonly name: string; readonly signal: AbortSignal | undefined },
  enter: () => Promise<Entered>,
): Promise<Reply> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const entered = await enter();
    if ('reply' in entered) return entered.reply;
    if (entered.admission !== undefined) await orAborted(entered.admission, name, signal);
  }
  throw new RuntimeError(
    'STORE_FAILED',
    `"${name}" was not called: this machine is too busy to start it in time`,
    {
      hint: 'The lease of the run was renewed again and again, and expired each time before the process started.',
    },
  );
}

const MOST_TRIES = 20;
/** Beyond this time, the slot is released while the store is slow. */
const SLOW_STORE_MS = 1_000;

async function admitAndSend(
  transport: Transport,
  fence: Fence,
  {
    name,
    message,
    signal,
    hasWaited,
  }: Omit<Asked, 'clock' | 'timer'> & { readonly name: string; readonly hasWaited: boolean },
): Promise<Entered> {
  // By the next turn the slot's previous outcome is being stored, so that a failing store is noticed.
  if (hasWaited) await nextTurn();
  const admission = fence.admit();
  if (!(await waitForSettled(admission, SLOW_STORE_MS))) return { admission };
  await admission;
  if (signal?.aborted) throw abortedError(name, signal);
  let isLate = false;
  const requireStart = () => {
    isLate = !fence.isLive();
    if (isLate)
      throw new RuntimeError('STORE_FAILED', `"${name}" was not called: the lease of the run expired`);
  };
  try {
    return { reply: await transport.exchange({ ...message, requireStart }, signal) };
  } catch (error) {
    if (isLate) return {};
    throw error;
  }
}

async function orAborted(work: Promise<void>, name: string, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return await work;
  if (signal.aborted) throw abortedError(name, signal);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const forget = whenAborted(signal, () => reject(abortedError(name, signal)));
  try {
    await Promise.race([work, aborted]);
  } finally {
    forget();
  }
}

/** The caller must give the room back. */
export function takeRoom(room: InFlightBytes, bytes: number): boolean {
  if (room.waiting.size > 0 || (room.running > 0 && room.used + bytes > room.maxBytes)) return false;
  room.running += 1;
  room.used += bytes;
  if (room.used > room.most) room.most = room.used;
  return true;
}

function giveRoomBack(room: InFlightBytes, bytes: number): void {
  room.running -= 1;
  room.used -= bytes;
  if (room.waiting.size > 0 || room.paused > 0) room.share();
}

interface RoomRequest {
  readonly message: Pick<Message, 'body'>;
  readonly name: string;
  readonly signal?: AbortSignal | undefined;
}

export async function inRoom<Result>(
  room: InFlightBytes,
  work: () => Promise<Result>,
  { message, name, signal }: RoomRequest,
): Promise<Result> {
  if (signal?.aborted) throw abortedError(name, signal);
  const bytes = sizeOf(message);
  if (!takeRoom(room, bytes)) await room.wait(bytes, name, signal);
  try {
    return await work();
  } finally {
    giveRoomBack(room, bytes);
  }
}

function sizeOf({ body }: Pick<Message, 'body'>): number {
  return body.length < SHORT ? body.length : Buffer.byteLength(body);
}

const SHORT = 16 * 1024;

async function enqueue<Result>(
  queue: Pool,
  task: () => Promise<Result>,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal?.aborted) throw abortedError(name, signal);
  try {
    return await queue.add(task, signal);
  } catch (error) {
    throw signal?.aborted && !(error instanceof RuntimeError) ? abortedError(name, signal) : error;
  }
}

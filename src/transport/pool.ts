import PQueue from 'p-queue';
import type { Binding } from '../binding/binding.ts';
import { RuntimeError } from '../errors.ts';
import { abortedError } from '../time/deadline.ts';
import { currentClock, inSlot, type QueueClock } from '../time/stopwatch.ts';
import type { InFlightBytes } from './in-flight-bytes.ts';
import type { Message, Reply, Transport } from './transport.ts';

/**
 * The slots that all entries of one kind share. A slot that is free is taken at once; who finds none waits in a queue,
 * and as long as anybody waits nobody takes a slot past it.
 */
export class Pool {
  readonly #concurrency: number;
  /** Those who had to wait, and the slots that they got. */
  readonly #queue: PQueue;
  /** The slots that were free when they were taken. */
  #taken = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
    this.#queue = new PQueue({ concurrency });
  }

  /** Takes a slot if one is free and nobody waits; it has to be given back. */
  take(): boolean {
    if (this.#queue.size > 0 || this.#taken + this.#queue.pending >= this.#concurrency) return false;
    this.#taken += 1;
    return true;
  }

  /** Gives a slot back that was taken. */
  giveBack(): void {
    this.#taken -= 1;
    if (this.#queue.size > 0) this.#shareSlots();
  }

  /** Runs work in a slot, after all that waits already. Once the signal is aborted, work that still waits is rejected. */
  async add<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    this.#shareSlots();
    return await this.#queue.add(work, signal === undefined ? {} : { signal });
  }

  /** Leaves the queue the slots that are not taken. */
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

/** A pool in which at most `concurrency` exchanges run at once. */
export function createPool(concurrency: number): Pool {
  return new Pool(concurrency);
}

/**
 * The transport behind the pool: an exchange takes a slot of its entry, then one of the pool, then room for its bytes, and its
 * timeout starts only there. A caller that aborts while waiting leaves the queue. Notifications take no slot.
 */
export function withPool(
  transport: Transport,
  binding: Pick<Binding, 'name' | 'concurrency'>,
  pool: Pool,
  inFlight?: InFlightBytes,
): Transport {
  const { name } = binding;
  const own = Number.isFinite(binding.concurrency) ? createPool(binding.concurrency) : undefined;
  const wait = (message: Message, signal: AbortSignal | undefined, clock: QueueClock | undefined) => {
    const exchange = () => transport.exchange(message, signal);
    const enter = (slotted: () => Promise<Reply>) => {
      const start = () =>
        inFlight === undefined ? slotted() : inRoom(inFlight, slotted, { message, name, signal });
      const shared = () => enqueue(pool, start, name, signal);
      // The entry's own slot comes first, so that what waits for it holds no slot of the others.
      return own === undefined ? shared() : enqueue(own, shared, name, signal);
    };
    return inSlot(exchange, enter, clock);
  };
  const takeSlots = (bytes: number) => {
    if (own?.take() === false) return false;
    if (pool.take()) {
      if (inFlight === undefined || takeRoom(inFlight, bytes)) return true;
      pool.giveBack();
    }
    own?.giveBack();
    return false;
  };
  return {
    ...transport,
    exchange: (message, signal, clock = currentClock()) => {
      const bytes = sizeOf(message);
      if (signal?.aborted || !takeSlots(bytes)) return wait(message, signal, clock);
      clock?.change('working', 1);
      const leave = () => {
        clock?.change('working', -1);
        if (inFlight !== undefined) giveRoomBack(inFlight, bytes);
        pool.giveBack();
        own?.giveBack();
      };
      const reply = transport.exchange(message, signal);
      reply.then(leave, leave);
      return reply;
    },
  };
}

/** Takes room for a request, if there is some and nobody waits; it has to be given back. */
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

/** A request that may have to wait for room. */
interface RoomRequest {
  readonly message: Pick<Message, 'body'>;
  readonly name: string;
  readonly signal?: AbortSignal | undefined;
}

/** Does the work when there is room for its request, after all that waits already. Throws ABORTED if the caller gives up before. */
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

/** The bytes of a request; of a short one, about. */
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

import PQueue from 'p-queue';
import type { Binding } from '../binding/binding.ts';
import { RuntimeError } from '../errors.ts';
import { abortedError } from '../time/deadline.ts';
import { currentClock, inSlot, type QueueClock } from '../time/stopwatch.ts';
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
 * The transport behind the pool: an exchange takes a slot of its entry, then one of the pool, and its
 * timeout starts only there. A caller that aborts while waiting leaves the queue. Notifications take no slot.
 */
export function withPool(
  transport: Transport,
  binding: Pick<Binding, 'name' | 'concurrency'>,
  pool: Pool,
): Transport {
  const own = Number.isFinite(binding.concurrency) ? createPool(binding.concurrency) : undefined;
  const wait = (message: Message, signal: AbortSignal | undefined, clock: QueueClock | undefined) => {
    const exchange = () => transport.exchange(message, signal);
    const enter = (slotted: () => Promise<Reply>) => {
      const shared = () => enqueue(pool, slotted, binding.name, signal);
      // The entry's own slot comes first, so that what waits for it holds no slot of the others.
      return own === undefined ? shared() : enqueue(own, shared, binding.name, signal);
    };
    return inSlot(exchange, enter, clock);
  };
  const takeSlots = () => {
    if (own?.take() === false) return false;
    if (pool.take()) return true;
    own?.giveBack();
    return false;
  };
  return {
    ...transport,
    exchange: (message, signal, clock = currentClock()) => {
      if (signal?.aborted || !takeSlots()) return wait(message, signal, clock);
      clock?.change('working', 1);
      const leave = () => {
        clock?.change('working', -1);
        pool.giveBack();
        own?.giveBack();
      };
      const reply = transport.exchange(message, signal);
      reply.then(leave, leave);
      return reply;
    },
  };
}

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

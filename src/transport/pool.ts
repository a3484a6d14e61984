import PQueue from 'p-queue';
import type { Binding } from '../binding/binding.ts';
import { RuntimeError } from '../errors.ts';
import { abortedError } from '../time/deadline.ts';
import { inSlot } from '../time/stopwatch.ts';
import type { Transport } from './transport.ts';

/** The slots that all entries of one kind share. */
export type Pool = PQueue;

/** A pool in which at most `concurrency` exchanges run at once. */
export function createPool(concurrency: number): Pool {
  return new PQueue({ concurrency });
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
  return {
    ...transport,
    exchange: (message, signal) => {
      const exchange = () => transport.exchange(message, signal);
      return inSlot(exchange, (slotted) => {
        const shared = () => enqueue(pool, slotted, binding.name, signal);
        // The entry's own slot comes first, so that what waits for it holds no slot of the others.
        return own === undefined ? shared() : enqueue(own, shared, binding.name, signal);
      });
    },
  };
}

async function enqueue<Result>(
  queue: PQueue,
  task: () => Promise<Result>,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal?.aborted) throw abortedError(name, signal);
  try {
    return await queue.add(task, signal === undefined ? {} : { signal });
  } catch (error) {
    throw signal?.aborted && !(error instanceof RuntimeError) ? abortedError(name, signal) : error;
  }
}

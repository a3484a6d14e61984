import type { ProviderConfig, RuntimeConfig } from '../../config/config.ts';
import {
  createLocalSupply,
  createRateQueue,
  createStreamLimits,
  type RateQueue,
  type StreamLimits,
} from '../../models/rate/rate-queue.ts';
import type { SharedWork } from '../../store/shared-work.ts';
import type { LazyStore } from '../lazy-store.ts';

export interface Rates {
  of(provider: Pick<ProviderConfig, 'id'>): RateQueue | undefined;
  streamsOf(provider: Pick<ProviderConfig, 'id'>): StreamLimits | undefined;
  close(): Promise<void>;
}

/** Limits for this process, or for all processes that share the store. The store is opened with the first call. */
export async function openRates(
  { providers, stateStore }: Pick<RuntimeConfig, 'providers' | 'stateStore'>,
  store: Pick<LazyStore, 'open'>,
): Promise<Rates> {
  const streams = new Map(
    providers.flatMap(({ id, streams: config }) =>
      config === undefined ? [] : [[id, createStreamLimits(config)] as const],
    ),
  );
  const streamsOf: Rates['streamsOf'] = ({ id }) => streams.get(id);
  const limited = providers.flatMap(({ id, rateLimit }) =>
    rateLimit === undefined ? [] : [{ id, rateLimit }],
  );
  if (limited.length === 0) return { of: () => undefined, streamsOf, close: async () => {} };
  const shared = stateStore.type === 'postgres' ? await import('../../store/shared-rates.ts') : undefined;
  const open = async (): Promise<SharedWork> => {
    const { work, location } = await store.open();
    if (work === undefined) throw new Error(`${location} is not a store that several machines share`);
    return work;
  };
  const queues = new Map(
    limited.map(({ id, rateLimit }) => {
      const supply = shared?.createSharedSupply(id, rateLimit, open) ?? createLocalSupply(rateLimit);
      return [id, createRateQueue(id, supply)];
    }),
  );
  return {
    of: ({ id }) => queues.get(id),
    streamsOf,
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}

import PQueue from 'p-queue';
import { type DecisionStore, decisionMethods } from './decision-store.ts';
import type { Address } from './postgres/connection/address.ts';
import { createSession } from './postgres/connection/session.ts';
import { createDriver } from './postgres/driver.ts';
import { openLink } from './postgres/layout/migrations.ts';
import { closedStoreError } from './store-rules.ts';

/** Throws STORE_FAILED. */
export async function openPostgresDecisions(address: Address, retryMs = 2_000): Promise<DecisionStore> {
  const { location } = address;
  const session = createSession(await openLink(address), { address, retryMs, onReconnect: async () => {} });
  const queue = new PQueue({ concurrency: 1 });
  let closing: Promise<void> | undefined;
  const driver = createDriver(location, async (work) => {
    if (closing !== undefined) throw closedStoreError(location);
    return await queue.add(async () => await session.run(work));
  });
  return {
    location,
    ...decisionMethods(driver),
    close: () => {
      closing ??= queue.onIdle().then(() => session.close());
      return closing;
    },
  };
}

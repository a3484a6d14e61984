import type { Address } from '../../store/postgres/connection/address.ts';
import type { Dispatcher } from './dispatcher.ts';
import { createReceiver } from './pg-boss-receiver.ts';
import { createSender } from './pg-boss-sender.ts';

/** Jobs in the database of the store, in a schema of their own, by pg-boss. */
export function openPgBoss(address: Address, report: (error: unknown) => void): Dispatcher {
  const sender = createSender(report);
  return {
    announce: sender.announce,
    work: async (handler, options) => await createReceiver(address, handler, options),
    close: sender.close,
  };
}

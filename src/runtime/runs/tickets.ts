import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Store } from '../../store/store.ts';

// A ticket lets one answer of a client decide a call. It is a row of the table of identities, so it outlives this
// process, exactly one process can issue it, and exactly one can use it.

/** Issues the ticket of a pending call. Undefined if one was issued before. Throws STORE_FAILED. */
export async function issueTicket(store: Store, pending: string): Promise<string | undefined> {
  const ticket = newMark();
  return (await claim(store, ticketOf(pending), ticket)) ? ticket : undefined;
}

/** Uses the ticket of a pending call. True for only one caller, with the right ticket. Throws STORE_FAILED. */
export async function useTicket(store: Store, pending: string, ticket: string): Promise<boolean> {
  const kept = await store.findIdentity({ key: ticketOf(pending), at: Date.now() });
  if (kept === undefined || !isSame(kept.run, ticket)) return false;
  return await claim(store, `use of ${ticketOf(pending)}`, newMark());
}

function ticketOf(pending: string): string {
  return `ticket of ${pending}`;
}

function newMark(): string {
  return randomBytes(16).toString('hex');
}

async function claim(store: Store, key: string, run: string): Promise<boolean> {
  const kept = await store.claimIdentity({ key, run, principal: '', args: '', at: Date.now() });
  return kept.run === run;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

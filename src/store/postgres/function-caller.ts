import { setTimeout as sleep } from 'node:timers/promises';
import { createBatches } from '../batches.ts';
import { closedStoreError } from '../store-rules.ts';
import { type FunctionCall, toStatement } from './change-call.ts';
import type { Address } from './connection/address.ts';
import type { Link } from './connection/client.ts';
import { isLostConnection } from './connection/postgres-error.ts';
import { createSession, endSession } from './connection/session.ts';
import { openLink } from './layout/migrations.ts';

export interface LockingCall extends FunctionCall {
  /** Calls of a batch run in this order, equal on every machine, so that they cannot deadlock. */
  readonly order: string;
}

/**
 * Calls functions of the database over a connection of its own. Concurrent calls share one statement and transaction. A
 * call may run twice if its answer is lost with the connection.
 */
export interface FunctionCaller {
  readonly location: string;
  call(call: LockingCall): Promise<unknown>;
  /** Runs work between calls; it may run twice. Rejects with STORE_FAILED or the error of the work. */
  run<Result>(work: (link: Link) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface FunctionCallerOptions {
  /** How long to try to reconnect, in ms. */
  readonly retryMs?: number | undefined;
  /** Returns a call that must run before the others of a statement. */
  readonly lead?: (() => LockingCall | undefined) | undefined;
}

export async function openFunctionCaller(
  address: Address,
  { retryMs = 30_000, lead = () => undefined }: FunctionCallerOptions = {},
): Promise<FunctionCaller> {
  const link = await openLink(address);
  const session = createSession(link, {
    ...{ address, retryMs },
    onReconnect: async (made, lost) => {
      await endSession(made, lost);
      await made.query({ text: settings });
    },
  });
  await session
    .run((first) => first.query({ text: settings }))
    .catch(async (error: unknown) => {
      await session.close();
      throw error;
    });
  let last: unknown;
  const batches = createBatches(
    async (calls: readonly LockingCall[]) => {
      last = undefined;
      const ordered = calls.toSorted((one, other) => compare(one.order, other.order));
      const answers = await session.run(async (made) => {
        try {
          const first = lead();
          const all = first === undefined ? ordered : [first, ...ordered];
          const [row] = await made.query(toStatement(all));
          return all.map((_, index) => row?.[`a${index}`]).slice(all.length - ordered.length);
        } catch (error) {
          last = error;
          throw error;
        }
      });
      return calls.map((call) => answers[ordered.indexOf(call)]);
    },
    // A lost server fails all calls.
    { most: MOST_TOGETHER, ofAll: () => last === undefined || isLostConnection(last) },
  );
  let isClosed = false;
  const requireOpen = () => {
    if (isClosed) throw closedStoreError(address.location);
  };
  return {
    location: address.location,
    call: async (call) => {
      requireOpen();
      // Copied, because the same call may be queued twice.
      return await batches.add({ ...call });
    },
    run: async (work) => {
      requireOpen();
      return await batches.run(() => session.run(work));
    },
    close: async () => {
      isClosed = true;
      // Does not wait until a lost server is back.
      await Promise.race([batches.onIdle(), sleep(LONGEST_END_MS, undefined, { ref: false })]);
      await session.close();
      await batches.onIdle();
    },
  };
}

/**
 * Every lookup of the functions has an index. A cached plan made for an empty table would scan it when it is large, or
 * full of dead rows.
 */
const settings = 'SET enable_seqscan = off';

const MOST_TOGETHER = 200;
const LONGEST_END_MS = 3_000;

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

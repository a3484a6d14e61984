import { setTimeout as sleep } from 'node:timers/promises';
import { createBatches } from '../batches.ts';
import { closedStoreError } from '../store-rules.ts';
import { type FunctionCall, toStatement } from './change-call.ts';
import type { Address } from './connection/address.ts';
import type { Link } from './connection/client.ts';
import { isLostConnection } from './connection/postgres-error.ts';
import { createSession, endSession } from './connection/session.ts';
import { openLink } from './layout/migrations.ts';

/** A call of a function that locks rows. */
export interface LockingCall extends FunctionCall {
  /** Calls that are made together are made in this order, the same on every machine, so that none waits for one that waits for it. */
  readonly order: string;
}

/**
 * Calls functions of the database over a connection of its own. What is asked for at one time, or while earlier calls are under
 * way, is one statement and one transaction. A call may be made twice, when its answer is lost with the connection.
 */
export interface FunctionCaller {
  /** The server and database, for error messages. */
  readonly location: string;
  /** What the function answers, when it is committed. Rejects with STORE_FAILED. */
  call(call: LockingCall): Promise<unknown>;
  /** Does work, which may be done twice as well, between the calls. Rejects with STORE_FAILED and what the work throws. */
  run<Result>(work: (link: Link) => Promise<Result>): Promise<Result>;
  /** When all that was asked for is done. Never rejects. */
  close(): Promise<void>;
}

export interface FunctionCallerOptions {
  /** How long a lost connection is tried to be had again, in ms. */
  readonly retryMs?: number | undefined;
  /** Asked before each statement: a call that is to be made before all others. */
  readonly lead?: (() => LockingCall | undefined) | undefined;
}

/** Connects. Rejects with STORE_FAILED. */
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
    // A server that is gone is gone for all.
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
      // The same call may be asked for twice.
      return await batches.add({ ...call });
    },
    run: async (work) => {
      requireOpen();
      return await batches.run(() => session.run(work));
    },
    close: async () => {
      isClosed = true;
      // A server that is gone is not waited for until it is back.
      await Promise.race([batches.onIdle(), sleep(LONGEST_END_MS, undefined, { ref: false })]);
      await session.close();
      await batches.onIdle();
    },
  };
}

/**
 * All that functions look for is found by an index. A plan that was made while a table was empty, and is kept, would read all of it
 * when it is large, or full of rows that are gone.
 */
const settings = 'SET enable_seqscan = off';

/** Calls in one statement, which is to end long before a lock is given up. */
const MOST_TOGETHER = 200;
const LONGEST_END_MS = 3_000;

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

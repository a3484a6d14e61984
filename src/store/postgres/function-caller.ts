import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
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
  const queue = new PQueue({ concurrency: 1 });
  let waiting: Waiting[] = [];
  let isClosed = false;
  const callAll = async (link: Link, calls: readonly FunctionCall[]): Promise<unknown[]> => {
    const first = lead();
    const all = first === undefined ? calls : [first, ...calls];
    const [row] = await link.query(toStatement(all));
    return all.map((_, index) => row?.[`a${index}`]).slice(all.length - calls.length);
  };
  const settle = async (entries: readonly Waiting[]): Promise<void> => {
    let last: unknown;
    try {
      const answers = await session.run(async (link) => {
        try {
          return await callAll(link, entries);
        } catch (error) {
          last = error;
          throw error;
        }
      });
      for (const [index, { resolve }] of entries.entries()) resolve(answers[index]);
    } catch (error) {
      // One of them is at fault, and the others are not to suffer for it; a server that is gone is gone for all.
      const isOneAtFault = entries.length > 1 && last !== undefined && !isLostConnection(last);
      if (isOneAtFault) for (const entry of entries) await settle([entry]);
      else for (const { reject } of entries) reject(error);
    }
  };
  const settleWaiting = async () => {
    await nextTurn();
    const entries = waiting.slice(0, MOST_TOGETHER);
    waiting = waiting.slice(MOST_TOGETHER);
    if (waiting.length > 0) void queue.add(settleWaiting);
    await settle(entries.toSorted((one, other) => compare(one.order, other.order)));
  };
  return {
    location: address.location,
    call: async (call) => {
      if (isClosed) throw closedStoreError(address.location);
      const entry: Waiting = { ...call, ...Promise.withResolvers<unknown>() };
      if (waiting.push(entry) === 1) void queue.add(settleWaiting);
      return await entry.promise;
    },
    run: async (work) => {
      if (isClosed) throw closedStoreError(address.location);
      return await queue.add(async () => await session.run(work));
    },
    close: async () => {
      isClosed = true;
      // A server that is gone is not waited for until it is back.
      await Promise.race([queue.onIdle(), sleep(LONGEST_END_MS, undefined, { ref: false })]);
      await session.close();
      await queue.onIdle();
    },
  };
}

/**
 * All that functions look for is found by an index. A plan that was made while a table was empty, and is kept, would read all of it
 * when it is large, or full of rows that are gone.
 */
const settings = 'SET enable_seqscan = off';

interface Waiting extends LockingCall, PromiseWithResolvers<unknown> {}

/** Calls in one statement, which is to end long before a lock is given up. */
const MOST_TOGETHER = 200;
const LONGEST_END_MS = 3_000;

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

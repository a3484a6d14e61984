import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from './address.ts';
import { connect, type Link } from './client.ts';
import { isCollision, isLostConnection, toPostgresError } from './postgres-error.ts';

/** A connection that reconnects. Callers must queue their work. */
export interface Session {
  /**
   * Runs the work, and again after a lost connection, so it must be repeatable. Rejects with STORE_FAILED, after
   * `retryMs` if the server is gone.
   */
  run<Result>(work: (link: Link) => Promise<Result>): Promise<Result>;
  /** Runs the work once, only if connected. Never rejects. */
  attempt(work: (link: Link) => Promise<unknown>): Promise<void>;
  /** When the last answered request was sent; ms of the monotonic clock. */
  answeredAt(): number;
  /** Does not repeat active work. Never rejects. */
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly address: Address;
  /** How long to try to reconnect, in ms. */
  readonly retryMs: number;
  readonly onReconnect: (link: Link, lost: Link) => Promise<void>;
}

export function createSession(first: Link, { address, retryMs, onReconnect }: SessionOptions): Session {
  let last = first;
  let live: Link | undefined = first;
  let lostAt: number | undefined;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  const reconnect = async (): Promise<Link> => {
    const link = await connect(address);
    try {
      await onReconnect(link, last);
    } catch (error) {
      await link.end();
      throw error;
    }
    last = link;
    return link;
  };
  const attempt = async <Result>(work: (link: Link) => Promise<Result>): Promise<Result> => {
    if (live?.isLost()) live = undefined;
    live ??= await reconnect();
    const at = performance.now();
    const result = await work(live);
    answeredAt = at;
    lostAt = undefined;
    return result;
  };
  return {
    run: async (work) => {
      let collisions = 0;
      for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
        try {
          return await attempt(work);
        } catch (error) {
          const isLost = live === undefined || live.isLost() || isLostConnection(error);
          if (isLost) {
            await live?.end();
            live = undefined;
            lostAt ??= performance.now();
          }
          const isOver = lostAt !== undefined && performance.now() - lostAt > retryMs;
          const mayHelp = isLost
            ? isLostConnection(error)
            : isCollision(error) && ++collisions <= MOST_COLLISIONS;
          if (!mayHelp || isOver || isClosed) throw toPostgresError(error, address);
        }
        await sleep(pauseMs * (0.5 + Math.random()));
      }
    },
    attempt: async (work) => {
      if (live === undefined || live.isLost()) return;
      await work(live).catch(() => {});
    },
    answeredAt: () => answeredAt,
    close: async () => {
      isClosed = true;
      await live?.end();
      live = undefined;
    },
  };
}

const MAX_PAUSE_MS = 1_000;
const MOST_COLLISIONS = 20;

export async function transact<Result>(link: Link, work: () => Promise<Result>): Promise<Result> {
  await link.query({ text: 'BEGIN' });
  try {
    const result = await work();
    await link.query({ text: 'COMMIT' });
    return result;
  } catch (error) {
    await link.query({ text: 'ROLLBACK' }).catch(() => {});
    throw error;
  }
}

/**
 * Ends the session of a lost connection, so that none of its work happens later. Rejects with the error of Postgres.
 */
export async function endSession(link: Link, lost: Link): Promise<void> {
  await link.query({
    text: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::timestamptz',
    values: [lost.pid, lost.backendStart],
  });
}

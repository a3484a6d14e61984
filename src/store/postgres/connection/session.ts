import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from './address.ts';
import { connect, type Link } from './client.ts';
import { isCollision, isLostConnection, toPostgresError } from './postgres-error.ts';

/** A connection that is made anew when it is lost. Work is done one after another: whoever uses it keeps a queue. */
export interface Session {
  /**
   * Does the work; again, on another connection, when the connection is lost meanwhile, so that the work must be such that it may be
   * done twice. Rejects with STORE_FAILED, for a server that is gone after `retryMs`.
   */
  run<Result>(work: (link: Link) => Promise<Result>): Promise<Result>;
  /** The same once, and only if there is a connection. Never rejects. */
  attempt(work: (link: Link) => Promise<unknown>): Promise<void>;
  /** When the server was last asked what it has answered since, ms of the monotonic clock. */
  answeredAt(): number;
  /** What is under way is not done again. Never rejects. */
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly address: Address;
  /** How long a lost connection is tried to be had again, in ms. */
  readonly retryMs: number;
  /** What has to be done on a connection that is not the first one, before anything else. */
  readonly onReconnect: (link: Link, lost: Link) => Promise<void>;
}

/** A session over a connection that is there already. */
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

/** All of the work, or nothing. Rejects with what Postgres says. */
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

/** Ends the session of a connection that was lost, so that nothing of it is done later. Rejects with what Postgres says. */
export async function endSession(link: Link, lost: Link): Promise<void> {
  await link.query({
    text: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::timestamptz',
    values: [lost.pid, lost.backendStart],
  });
}

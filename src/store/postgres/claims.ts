import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError } from '../../base/errors.ts';
import { numberOf } from '../sqlite/row.ts';
import type { Claim } from '../store.ts';
import { checkRunId, endedInSql, endedRunError } from '../store-rules.ts';
import type { Link } from './connection/client.ts';
import { endSession } from './connection/session.ts';

export interface Claims {
  /** Undefined while the run is held, here or elsewhere. Rejects with USAGE and STORE_FAILED. */
  claim(runId: string): Promise<Claim | undefined>;
  /** Has a run below one that is claimed here written with the claim of that one. */
  cover(runId: string, root: string): Claim;
  /** The epoch of a run that was claimed here, which may be lost meanwhile; null of others. */
  epochOf(runId: string): number | null;
  held(): string[];
  /** Claims again on a new connection what nobody has claimed meanwhile. Rejects with what Postgres says. */
  restore(link: Link, lost: Link): Promise<void>;
  /** Never rejects. */
  releaseAll(): Promise<void>;
}

interface ClaimsOptions {
  /** The place of the store, for error messages. */
  readonly location: string;
  /** Of this store among all that are open. */
  readonly holder: string;
  /** Does work when everything before it is done. Rejects with STORE_FAILED. */
  readonly run: <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;
  /** The same, if there is a connection. Never rejects. */
  readonly attempt: (work: (link: Link) => Promise<unknown>) => Promise<void>;
  /** When the connection was last asked what it has answered, ms of the monotonic clock. */
  readonly answeredAt: () => number;
  /** How often this process is heard of while it holds runs, and after how long without that others end its session, in ms. */
  readonly beatMs: number;
  readonly hungMs: number;
}

interface Held extends Claim {
  epoch: number;
}

/** Of a claim that is lost: no claim has it. */
const LOST = -1;

/**
 * For so long after an answer the claim counts as held, in ms. The server gives up a silent connection after nine seconds (see the
 * settings of client.ts); what it closes before that is known here unless this process stands still.
 */
const ANSWER_COUNTS_MS = 1_000;

/** Whether the claim is ours, and how the run has ended if it has; says that its holder is there. */
const confirm = `WITH beat AS (UPDATE signalbox.holders SET seen_at = clock_timestamp() WHERE id = $3)
SELECT signalbox.refusal($1, $2, pg_backend_pid()) IS NULL AS is_ours,
  (SELECT status FROM signalbox.runs WHERE id = $1 AND status IN (${endedInSql})) AS ended`;

export function createClaims(options: ClaimsOptions): Claims {
  const { location, holder, run, attempt, answeredAt, beatMs, hungMs } = options;
  /** When this process last said that it is there, ms of the monotonic clock. */
  let seenAt = Number.NEGATIVE_INFINITY;
  const held = new Map<string, Held>();
  /** Runs below others, and whose claims are theirs too. */
  const covered = new Map<string, string>();
  let session: Link | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isBeating = false;
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    // Also finds out that the connection is lost while nothing is to be written.
    await run(async (link) => {
      const at = performance.now();
      await beatOnce(link, holder);
      seenAt = at;
    }).catch(() => {});
    isBeating = false;
  };
  const stopIfIdle = () => {
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const epochOf = (runId: string): number | null => {
    const root = covered.get(runId);
    // One that is below another is never written without a claim.
    return held.get(root ?? runId)?.epoch ?? (root === undefined ? null : LOST);
  };
  const rightTo = (runId: string): Pick<Claim, 'confirm' | 'isLive'> => ({
    confirm: () =>
      run(async (link) => {
        const at = performance.now();
        const epoch = epochOf(runId) ?? LOST;
        const [row = {}] = await link.query({
          name: 'confirm',
          text: confirm,
          values: [runId, epoch, holder],
        });
        if (row['is_ours'] !== true) throw lostClaimError(runId, location);
        seenAt = at;
        if (typeof row['ended'] === 'string') throw endedRunError(runId, row['ended']);
      }),
    isLive: () => {
      const now = performance.now();
      return (
        (epochOf(runId) ?? LOST) !== LOST &&
        session?.isLost() === false &&
        now - answeredAt() < Math.min(ANSWER_COUNTS_MS, hungMs / 3) &&
        now - seenAt < (hungMs * 5) / 6
      );
    },
  });
  const give = (runId: string, epoch: number): Claim => {
    const claim: Held = {
      epoch,
      ...rightTo(runId),
      release: async () => {
        // A second release must not release a later claim of the run.
        if (held.get(runId) !== claim) return;
        await attempt(async (link) => {
          if (held.get(runId) !== claim) return;
          held.delete(runId);
          await link.query({ text: 'SELECT signalbox.release($1, $2)', values: [runId, epoch] });
        });
        held.delete(runId);
        stopIfIdle();
      },
    };
    held.set(runId, claim);
    timer ??= setInterval(beat, beatMs).unref();
    return claim;
  };
  return {
    claim: async (runId) => {
      checkRunId(runId);
      return await run(async (link) => {
        if (held.has(runId)) return undefined;
        const at = performance.now();
        if (held.size === 0) {
          await introduce(link, holder);
          seenAt = at;
        }
        session = link;
        const epoch = await tryClaim(link, { runId, holder, hungMs });
        return epoch === undefined ? undefined : give(runId, epoch);
      });
    },
    cover: (runId, root) => {
      covered.set(runId, root);
      return { ...rightTo(runId), release: async () => void covered.delete(runId) };
    },
    epochOf,
    held: () => [...held.keys()],
    restore: async (link, lost) => {
      await endSession(link, lost);
      if (held.size === 0) return;
      const at = performance.now();
      await introduce(link, holder);
      seenAt = at;
      for (const [runId, claim] of held)
        if (!(await claimAgain(link, runId, claim.epoch))) claim.epoch = LOST;
      session = link;
    },
    releaseAll: async () => {
      clearInterval(timer);
      timer = undefined;
      held.clear();
      if (session === undefined || session.isLost()) return;
      await session.query({ text: leave, values: [holder] }).catch(() => {});
    },
  };
}

const leave = `WITH gone AS (DELETE FROM signalbox.claims WHERE holder = $1), left_by AS (DELETE FROM signalbox.holders WHERE id = $1)
SELECT pg_advisory_unlock_all()`;

async function introduce(link: Link, holder: string): Promise<void> {
  await link.query({ text: forget });
  const values = [holder, link.pid, link.backendStart, hostname()];
  await link.query({
    text: `INSERT INTO signalbox.holders (id, pid, backend_start, machine, seen_at) VALUES ($1, $2, $3, $4, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, backend_start = excluded.backend_start, seen_at = excluded.seen_at`,
    values,
  });
}

const forget = `DELETE FROM signalbox.holders AS h WHERE NOT EXISTS (
  SELECT 1 FROM pg_stat_activity AS a WHERE a.pid = h.pid AND a.backend_start = h.backend_start)`;

async function beatOnce(link: Link, holder: string): Promise<void> {
  await link.query({
    name: 'beat',
    text: 'UPDATE signalbox.holders SET seen_at = clock_timestamp() WHERE id = $1',
    values: [holder],
  });
}

interface Wanted {
  readonly runId: string;
  readonly holder: string;
  readonly hungMs: number;
}

/** The epoch of the claim; undefined while somebody has the run who is still heard of. */
async function tryClaim(link: Link, { runId, holder, hungMs }: Wanted): Promise<number | undefined> {
  const claim = async () => {
    try {
      const [row] = await link.query({
        ...{ name: 'claim', text: 'SELECT signalbox.claim($1, $2) AS epoch', values: [runId, holder] },
      });
      return row?.['epoch'] === null ? undefined : numberOf(row ?? {}, 'epoch');
    } catch (error) {
      // The lock of a session outlives the statement that took it.
      await link.query({ text: unlock, values: [runId] }).catch(() => {});
      throw error;
    }
  };
  const given = await claim();
  if (given !== undefined) return given;
  const [row] = await link.query({
    text: 'SELECT signalbox.end_hung($1, $2) AS ended',
    values: [runId, hungMs],
  });
  if (numberOf(row ?? {}, 'ended') === 0) return undefined;
  // A session takes a moment to end.
  for (let pauseMs = 10; pauseMs < LONGEST_END_MS; pauseMs *= 2) {
    await sleep(pauseMs);
    const freed = await claim();
    if (freed !== undefined) return freed;
  }
  return undefined;
}

const unlock = 'SELECT pg_advisory_unlock(signalbox.lock_key($1))';
const LONGEST_END_MS = 1_500;

/** False: somebody has claimed it meanwhile, and whatever is written of it here is to be refused. */
async function claimAgain(link: Link, runId: string, epoch: number): Promise<boolean> {
  for (let pauseMs = 10; pauseMs < LONGEST_END_MS; pauseMs *= 2) {
    const [row] = await link.query({
      ...{ text: 'SELECT signalbox.claim_again($1, $2) AS is_ours', values: [runId, epoch] },
    });
    // Null: somebody has the lock, which may be our old session still.
    if (typeof row?.['is_ours'] === 'boolean') return row['is_ours'];
    await sleep(pauseMs);
  }
  return false;
}

/** STORE_FAILED: the run is another process's by now, so nothing more of it is written here. */
export function lostClaimError(runId: string, location: string): RuntimeError {
  return new RuntimeError(
    'STORE_FAILED',
    `run ${runId} is claimed here no more: the connection to the state store ${location} was lost, or this process was not heard of for too long`,
    { hint: 'Nothing was written. Another process may go on with the run; resume it, if none does.' },
  );
}

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError } from '../../base/errors.ts';
import { numberOf } from '../sqlite/row.ts';
import type { Claim } from '../store.ts';
import { checkRunId, endedInSql, endedRunError } from '../store-rules.ts';
import type { Link } from './connection/client.ts';
import { endSession } from './connection/session.ts';

export interface Claims {
  /** Undefined if the run is claimed, here or elsewhere. Rejects with USAGE and STORE_FAILED. */
  claim(runId: string): Promise<Claim | undefined>;
  cover(runId: string, root: string): Claim;
  epochOf(runId: string): number | null;
  held(): string[];
  /** Claims runs again on a new connection unless others did. Rejects with the error of Postgres. */
  restore(link: Link, lost: Link): Promise<void>;
  /** Never rejects. */
  releaseAll(): Promise<void>;
}

interface ClaimsOptions {
  readonly location: string;
  readonly holder: string;
  readonly run: <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>;
  readonly attempt: (work: (link: Link) => Promise<unknown>) => Promise<void>;
  readonly answeredAt: () => number;
  /** The interval of heartbeats while runs are held, and the silence after which others end the session; in ms. */
  readonly beatMs: number;
  readonly hungMs: number;
}

interface Held extends Claim {
  epoch: number;
}

const LOST = -1;

/**
 * How long a claim counts as held after an answer, in ms. The server drops a silent connection after nine seconds
 * (settings in client.ts). An earlier close is noticed here unless this process is stopped.
 */
const ANSWER_COUNTS_MS = 1_000;

/** Tells whether the claim is still valid and how the run ended, and sends a heartbeat. */
const confirm = `WITH beat AS (UPDATE signalbox.holders SET seen_at = clock_timestamp() WHERE id = $3)
SELECT signalbox.refusal($1, $2, pg_backend_pid()) IS NULL AS is_ours,
  (SELECT status FROM signalbox.runs WHERE id = $1 AND status IN (${endedInSql})) AS ended`;

export function createClaims(options: ClaimsOptions): Claims {
  const { location, holder, run, attempt, answeredAt, beatMs, hungMs } = options;
  let seenAt = Number.NEGATIVE_INFINITY;
  const held = new Map<string, Held>();
  const covered = new Map<string, string>();
  let session: Link | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isBeating = false;
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    // Also detects a lost connection while nothing is written.
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
    // A run below another is never written without a claim.
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

/** Undefined if another holder has the run and sends heartbeats. */
async function tryClaim(link: Link, { runId, holder, hungMs }: Wanted): Promise<number | undefined> {
  const claim = async () => {
    try {
      const [row] = await link.query({
        ...{ name: 'claim', text: 'SELECT signalbox.claim($1, $2) AS epoch', values: [runId, holder] },
      });
      return row?.['epoch'] === null ? undefined : numberOf(row ?? {}, 'epoch');
    } catch (error) {
      // A session lock outlives the statement that took it.
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

/** False: another process claimed the run, so later writes here must be refused. */
async function claimAgain(link: Link, runId: string, epoch: number): Promise<boolean> {
  for (let pauseMs = 10; pauseMs < LONGEST_END_MS; pauseMs *= 2) {
    const [row] = await link.query({
      ...{ text: 'SELECT signalbox.claim_again($1, $2) AS is_ours', values: [runId, epoch] },
    });
    // Null: the lock is taken, possibly by our old session.
    if (typeof row?.['is_ours'] === 'boolean') return row['is_ours'];
    await sleep(pauseMs);
  }
  return false;
}

/** STORE_FAILED: another process may have the run, so nothing more is written here. */
export function lostClaimError(runId: string, location: string): RuntimeError {
  return new RuntimeError(
    'STORE_FAILED',
    `this process no longer holds run ${runId}: it lost the connection to the state store ${location}, or did not report for too long`,
    { hint: 'Nothing was written. Another process may continue the run; resume it if none does.' },
  );
}

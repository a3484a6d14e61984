import { randomUUID } from 'node:crypto';
import { type RuntimeError, toFault } from '../base/errors.ts';
import { changeMethods } from './change-methods.ts';
import { noticeFromRow } from './outbox/notice-row.ts';
import type { Outbox } from './outbox/outbox.ts';
import { type FunctionCall, toCall, toStatement } from './postgres/change-call.ts';
import { type Claims, createClaims, lostClaimError } from './postgres/claims.ts';
import type { Address } from './postgres/connection/address.ts';
import type { Link } from './postgres/connection/client.ts';
import { poolerError } from './postgres/connection/pooler.ts';
import { createSession, type Session, transact } from './postgres/connection/session.ts';
import { createListener } from './postgres/database-watch.ts';
import { openLink } from './postgres/layout/migrations.ts';
import { fromKept, readAnswer, toKept } from './postgres/rows.ts';
import { pendingMethods, runMethods, type StoreParts, stepMethods } from './postgres/store-methods.ts';
import { createTextReader, type TextReader } from './postgres/texts/text-reader.ts';
import { workMethods } from './postgres/work/work-methods.ts';
import { DamagedError, numberOf, numberOrNull } from './sqlite/row.ts';
import type { Answer, Change } from './sqlite/write/change.ts';
import { createWriteQueue } from './sqlite/write/write-queue.ts';
import type { Store } from './store.ts';
import { checkRunId, closedStoreError, endedRunError, unknownRunError } from './store-rules.ts';

export interface PostgresOptions {
  /** How long a lost connection is tried to be had again, in ms. */
  readonly retryMs?: number;
  /** How often a process that holds runs is heard of, and after how long without that its claims are ended, in ms. */
  readonly beatMs?: number;
  readonly hungMs?: number;
}

/** The store in a Postgres database, which many processes on many machines may use at once. Throws STORE_FAILED. */
export async function openPostgresStore(address: Address, options: PostgresOptions = {}): Promise<Store> {
  const link = await openLink(address);
  const texts = createTextReader(address);
  const parts = createParts(link, { address, texts, ...options });
  const listener = createListener(address);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await parts.idle();
    await parts.claims.releaseAll();
    await Promise.all([parts.session.close(), listener.close(), texts.close()]);
  };
  const guarded = guardedBy(parts, () => closing !== undefined);
  const shared = workMethods(guarded);
  const single = changeMethods({ location: address.location, change: guarded.change });
  return {
    location: address.location,
    ...single,
    ...{ work: shared.work, decide: shared.decide, outbox: postgresOutbox(guarded.run) },
    createRun: async (run) =>
      await (run.isDispatched === true ? shared.createQueued(run) : single.createRun(run)),
    ...runMethods(guarded),
    ...stepMethods(guarded),
    ...pendingMethods(guarded),
    claimRun: async (runId) => {
      checkRunId(runId);
      return await guarded.open(() => parts.claims.claim(runId));
    },
    coverRun: parts.claims.cover,
    now: () =>
      guarded.run(async (link) => {
        const [row] = await link.query({
          ...{ name: 'now', text: 'SELECT signalbox.now_ms($1) AS now', values: [Date.now()] },
        });
        return numberOf(row ?? {}, 'now');
      }),
    watch: listener.watch,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** What the methods need, and what ends them. */
interface Parts extends StoreParts {
  readonly session: Session;
  idle(): Promise<void>;
}

/** The parts, which refuse work when the store is closed. */
interface GuardedParts extends Parts {
  open<Result>(work: () => Promise<Result>): Promise<Result>;
}

function createParts(
  first: Link,
  context: PostgresOptions & { readonly address: Address; readonly texts: TextReader },
): Parts {
  const { address, texts, retryMs = 30_000, beatMs = 5_000, hungMs = 30_000 } = context;
  const holder = randomUUID();
  const tokens = new WeakMap<Change, string>();
  const tokenOf = (change: Change) => {
    const token = tokens.get(change) ?? randomUUID();
    tokens.set(change, token);
    return token;
  };
  const session: Session = createSession(first, {
    ...{ address, retryMs, onReconnect: (link, lost) => claims.restore(link, lost) },
  });
  const queue = createWriteQueue((changes) =>
    session.run((link) => makeChanges(link, { address, tokenOf, epochOf: claims.epochOf }, changes)),
  );
  const run: Parts['run'] = (work) => queue.run(() => session.run(work));
  const attempt = async (work: (link: Link) => Promise<unknown>) =>
    await queue.run(() => session.attempt(work));
  const claims: Claims = createClaims({
    ...{ location: address.location, holder, run, attempt, beatMs, hungMs },
    answeredAt: session.answeredAt,
  });
  return { address, hungMs, session, claims, texts, run, change: queue.change, idle: queue.onIdle };
}

function guardedBy(parts: Parts, isClosed: () => boolean): GuardedParts {
  const open = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isClosed()) throw closedStoreError(parts.address.location);
    return await work();
  };
  return {
    ...parts,
    open,
    run: (work) => open(() => parts.run(work)),
    change: (change) => open(() => parts.change(change)),
  };
}

/** `run` does work on the connection, after everything that was asked for before; it rejects with STORE_FAILED. */
function postgresOutbox(run: <Result>(work: (link: Link) => Promise<Result>) => Promise<Result>): Outbox {
  const query = (text: string, values: readonly unknown[]) => run((link) => link.query({ text, values }));
  return {
    setRules: async (given, rules) => {
      const config = toKept(given);
      await query(
        `WITH wanted AS (SELECT * FROM unnest($2::text[], $3::text[]) AS each (event, target)), gone AS (
            DELETE FROM signalbox.notify_rules AS r WHERE config = $1
              AND NOT EXISTS (SELECT 1 FROM wanted AS w WHERE w.event = r.event AND w.target = r.target))
          INSERT INTO signalbox.notify_rules (event, config, target) SELECT event, $1, target FROM wanted
            ON CONFLICT DO NOTHING`,
        [config, rules.map(({ event }) => event), rules.map(({ target }) => target)],
      );
    },
    take: async (targets, at, { leaseMs, limit }) => {
      const rows = await query(
        `UPDATE signalbox.notices SET attempts = attempts + 1, due_at = signalbox.now_ms($2) + $3
          WHERE seq IN (SELECT seq FROM signalbox.notices WHERE target = ANY ($1) AND due_at <= signalbox.now_ms($2)
            ORDER BY due_at, seq LIMIT $4 FOR UPDATE SKIP LOCKED) RETURNING *`,
        [targets, at, leaseMs, limit],
      );
      return rows.map((row) => noticeFromRow(fromKept(row))).toSorted((one, other) => one.seq - other.seq);
    },
    remove: async (seq) => void (await query('DELETE FROM signalbox.notices WHERE seq = $1', [seq])),
    postpone: async (seq, at, ms) =>
      void (await query('UPDATE signalbox.notices SET due_at = signalbox.now_ms($2) + $3 WHERE seq = $1', [
        seq,
        at,
        ms,
      ])),
    nextDue: async (targets, at) => {
      const [row] = await query(
        'SELECT min(due_at) - signalbox.now_ms($2) AS left FROM signalbox.notices WHERE target = ANY ($1)',
        [targets, at],
      );
      const left = row && numberOrNull(row, 'left');
      return left === null || left === undefined ? undefined : Math.max(0, left);
    },
  };
}

interface ChangeMaker {
  readonly address: Address;
  /** The epoch with which the run is claimed here; null: it is not. */
  epochOf(runId: string): number | null;
  /** A name for a change, the same whenever it is asked for. */
  tokenOf(change: Change): string;
}

/** Makes all of the changes in one transaction, or none. Rejects with what Postgres says. */
async function makeChanges(link: Link, maker: ChangeMaker, all: readonly Change[]): Promise<Answer[]> {
  const calls = all.map((change) => {
    const owner = { epoch: maker.epochOf(change.runId), pid: link.pid, token: maker.tokenOf(change) };
    return toCall(change, owner);
  });
  const answers =
    calls.length <= MOST_CALLS
      ? await callAll(link, calls)
      : await transact(link, async () => {
          const each: unknown[] = [];
          for (let from = 0; from < calls.length; from += MOST_CALLS)
            each.push(...(await callAll(link, calls.slice(from, from + MOST_CALLS))));
          return each;
        });
  return all.map((change, index) => toAnswer(change, answers[index], maker.address));
}

/** In one statement. Source: https://www.postgresql.org/docs/current/limits.html (1,664 columns of a result) */
const MOST_CALLS = 500;

async function callAll(link: Link, calls: readonly FunctionCall[]): Promise<unknown[]> {
  const [row] = await link.query(toStatement(calls));
  if (row === undefined) throw new DamagedError('changes were not answered');
  return calls.map((_, index) => row[`a${index}`]);
}

function toAnswer({ runId }: Change, text: unknown, address: Address): Answer {
  const row = readAnswer(text);
  const { refused } = row;
  if (refused === undefined) return { row: fromKept(row) };
  return { refusal: toFault(errorOf(refused, runId, address)) };
}

function errorOf(refused: unknown, runId: string, address: Address): RuntimeError {
  switch (refused) {
    case 'RUN_UNKNOWN':
      return unknownRunError(runId, address.location);
    case 'RUN_ENDED':
      return endedRunError(runId, 'cancelled');
    case 'OTHER_SESSION':
      return poolerError(address);
    default:
      return lostClaimError(runId, address.location);
  }
}

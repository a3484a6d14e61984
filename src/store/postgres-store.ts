import { randomUUID } from 'node:crypto';
import { changeMethods } from './change-methods.ts';
import { postgresOutbox } from './outbox/postgres-outbox.ts';
import { type Claims, createClaims } from './postgres/claims.ts';
import type { Address } from './postgres/connection/address.ts';
import type { Link } from './postgres/connection/client.ts';
import { createSession, type Session } from './postgres/connection/session.ts';
import { createListener } from './postgres/database-watch.ts';
import { openLink } from './postgres/layout/migrations.ts';
import { makeChanges } from './postgres/make-changes.ts';
import { pendingMethods, runMethods, type StoreParts, stepMethods } from './postgres/store-methods.ts';
import { createTextReader, type TextReader } from './postgres/texts/text-reader.ts';
import { workMethods } from './postgres/work/work-methods.ts';
import { numberOf } from './sqlite/row.ts';
import type { Change } from './sqlite/write/change.ts';
import { createWriteQueue } from './sqlite/write/write-queue.ts';
import type { Store } from './store.ts';
import { checkRunId, closedStoreError } from './store-rules.ts';

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

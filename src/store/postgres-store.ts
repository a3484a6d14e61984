import { randomUUID } from 'node:crypto';
import type { Address } from './postgres/address.ts';
import { type Claims, createClaims } from './postgres/claims.ts';
import { connect, type Link } from './postgres/client.ts';
import { createListener } from './postgres/database-watch.ts';
import { makeChanges } from './postgres/make-changes.ts';
import { requireTables } from './postgres/migrations.ts';
import * as pendings from './postgres/pendings.ts';
import { toPostgresError } from './postgres/postgres-error.ts';
import * as reads from './postgres/reads.ts';
import { createSession, type Session } from './postgres/session.ts';
import { createTextReader, type TextReader } from './postgres/text-reader.ts';
import { callToRow, recordFromRow } from './sqlite/pending-table.ts';
import { toKeptRecord } from './sqlite/record-parts.ts';
import { numberOf, type Row } from './sqlite/row.ts';
import { changeToRow, runToRow } from './sqlite/run-table.ts';
import { OUTPUT } from './sqlite/text-table.ts';
import type { Change } from './sqlite/write/change.ts';
import { createWriteQueue } from './sqlite/write/write-queue.ts';
import type { Store } from './store.ts';
import { checkRunId, closedStoreError, duplicateRunError } from './store-rules.ts';

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
  return {
    location: address.location,
    ...runMethods(guarded),
    ...stepMethods(guarded),
    ...pendingMethods(guarded),
    claimRun: async (runId) => {
      checkRunId(runId);
      return await guarded.open(() => parts.claims.claim(runId));
    },
    watch: listener.watch,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** A connection to a database with the tables of this version, made where there are none. Throws STORE_FAILED. */
async function openLink(address: Address): Promise<Link> {
  try {
    const link = await connect(address);
    try {
      await requireTables(link, address.location);
      return link;
    } catch (error) {
      await link.end();
      throw error;
    }
  } catch (error) {
    throw toPostgresError(error, address);
  }
}

interface Parts {
  readonly address: Address;
  readonly session: Session;
  readonly claims: Claims;
  readonly texts: TextReader;
  /** Work on the connection, after everything that was asked for before. Rejects with STORE_FAILED. */
  run<Result>(work: (link: Link) => Promise<Result>): Promise<Result>;
  /** Resolves when the change is made and on the server's disk. Rejects with STORE_FAILED and what refuses the change. */
  change(change: Change): Promise<Row>;
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
  const claims: Claims = createClaims({ holder, run, attempt, beatMs, hungMs });
  return { address, session, claims, texts, run, change: queue.change, idle: queue.onIdle };
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

function runMethods({
  address,
  claims,
  texts,
  run: inTurn,
  change,
}: GuardedParts): Pick<
  Store,
  'createRun' | 'findRun' | 'findRunStatus' | 'listRuns' | 'setRunStatus' | 'prune'
> {
  const load = loaderOf(texts);
  return {
    createRun: async (run) => {
      checkRunId(run.id);
      const made = await change({ what: 'create_run', runId: run.id, run: runToRow(run) });
      if (numberOf(made, 'is_new') === 0) throw duplicateRunError(run.id, address.location);
    },
    findRun: (id) => inTurn((link) => reads.findRun(link, id, load)),
    findRunStatus: (id) => inTurn((link) => reads.findStatus(link, id)),
    listRuns: (filter = {}) => inTurn((link) => reads.listRuns(link, filter, load)),
    setRunStatus: async (id, wanted) => {
      const { status, at } = wanted;
      const output = wanted.output
        ? toKeptRecord(wanted.output, { runId: id, step: OUTPUT }).record
        : wanted.output;
      const row = changeToRow(wanted, output?.text);
      const outputParts = output === undefined ? undefined : (output?.parts ?? null);
      const made = await change({ what: 'set_status', runId: id, change: { status, at, row, outputParts } });
      return numberOf(made, 'stands') === 1;
    },
    prune: async (before) => {
      let removed = 0;
      for (let behind = 0; ; ) {
        const row = await inTurn((link) => pruneSome(link, before, behind, claims.held()));
        removed += numberOf(row, 'removed');
        if (numberOf(row, 'seen') === 0) return removed;
        behind = numberOf(row, 'last');
      }
    },
  };
}

async function pruneSome(link: Link, before: number, behind: number, own: readonly string[]): Promise<Row> {
  const text = 'SELECT * FROM signalbox.prune($1, $2, $3)';
  const [row] = await link.query({ text, values: [before, behind, own] });
  return row ?? {};
}

function stepMethods({
  texts,
  run: inTurn,
  change,
}: GuardedParts): Pick<Store, 'beginStep' | 'endStep' | 'listSteps' | 'readText' | 'listHistory'> {
  return {
    beginStep: async (runId, step, at, { unlessCancelled = false } = {}) => {
      const made = await change({ what: 'begin_step', runId, step: { step, at, unlessCancelled } });
      return { attempt: numberOf(made, 'attempts') };
    },
    endStep: async (runId, step, outcome, at) => {
      const { record, fresh } = toKeptRecord(outcome, { runId, step });
      await change({ what: 'end_step', runId, step: { step, outcome: record, at } });
      for (const text of fresh) {
        texts.hold(text.place, text.read());
        text.release();
      }
    },
    listSteps: (runId) => inTurn((link) => reads.listSteps(link, runId, loaderOf(texts))),
    readText: (place) => texts.read(place),
    listHistory: (runId) => inTurn((link) => reads.listHistory(link, runId)),
  };
}

function loaderOf(texts: TextReader): reads.TextLoader {
  return (runId) => (step, number) => texts.read({ runId, step, number });
}

function pendingMethods({
  run: inTurn,
  change,
}: GuardedParts): Pick<
  Store,
  'summarizeRuns' | 'addPending' | 'decide' | 'findPending' | 'listPendings' | 'listExpired'
> {
  const afterExpiry = <Result>(at: number, work: (link: Link) => Promise<Result>): Promise<Result> =>
    inTurn(async (link) => {
      await pendings.expireDue(link, at);
      return await work(link);
    });
  return {
    addPending: async (call) => {
      const { id, runId, createdAt: at } = call;
      const added = await change({ what: 'add_pending', runId, call: { id, at, row: callToRow(call) } });
      return recordFromRow(added);
    },
    decide: (id, ruling, at) => {
      const token = randomUUID();
      return inTurn((link) => pendings.decide(link, { id, ruling, at, token }));
    },
    findPending: (id, at) => afterExpiry(at, (link) => pendings.findPending(link, id)),
    summarizeRuns: (filter, at) => afterExpiry(at, (link) => reads.summarizeRuns(link, filter)),
    listPendings: (filter, at) => afterExpiry(at, (link) => pendings.listPendings(link, filter)),
    listExpired: (at) => afterExpiry(at, (link) => pendings.runsExpired(link)),
  };
}

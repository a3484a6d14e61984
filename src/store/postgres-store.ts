import { randomUUID } from 'node:crypto';
import { type RuntimeError, toFault } from '../base/errors.ts';
import { changeMethods } from './change-methods.ts';
import { watchKinds } from './changes.ts';
import { identityMethods } from './identities.ts';
import { pinMethods } from './pins.ts';
import { type FunctionCall, toCall, toStatement } from './postgres/change-call.ts';
import { type Claims, createClaims, lostClaimError } from './postgres/claims.ts';
import type { Address } from './postgres/connection/address.ts';
import type { Link } from './postgres/connection/client.ts';
import { poolerError } from './postgres/connection/pooler.ts';
import { toPostgresError } from './postgres/connection/postgres-error.ts';
import { createSession, type Session, transact } from './postgres/connection/session.ts';
import { anyChanges, createListener, decisions } from './postgres/database-watch.ts';
import { createDriver, type Run } from './postgres/driver.ts';
import { openLink } from './postgres/layout/migrations.ts';
import { createTextReader } from './postgres/texts/text-reader.ts';
import { workMethods } from './postgres/work/work-methods.ts';
import { createOutbox, readMethods } from './reads.ts';
import { toKeptRecord } from './sqlite/record-parts.ts';
import { DamagedError, decodeRow, numberOf, type Row, readAnswer, textOf } from './sqlite/row.ts';
import type { Answer, Change } from './sqlite/write/change.ts';
import { createWriteQueue } from './sqlite/write/write-queue.ts';
import type { Store } from './store.ts';
import { checkRunId, closedStoreError, endedRunError, unknownRunError } from './store-rules.ts';

export interface PostgresOptions {
  /** How long to try to reconnect, in ms. */
  readonly retryMs?: number;
  /** The interval of heartbeats while runs are held, and the silence after which claims end; in ms. */
  readonly beatMs?: number;
  readonly hungMs?: number;
}

/** Opens the store in a Postgres database, which many machines share. Throws STORE_FAILED. */
export async function openPostgresStore(
  address: Address,
  { retryMs = 30_000, beatMs = 5_000, hungMs = 30_000 }: PostgresOptions = {},
): Promise<Store> {
  const { location } = address;
  const session: Session = createSession(await openLink(address), {
    ...{ address, retryMs, onReconnect: (link, lost) => claims.restore(link, lost) },
  });
  const texts = createTextReader(address);
  const listener = createListener(address, decisions);
  const changes = createListener(address, anyChanges);
  const tokens = new WeakMap<Change, string>();
  const tokenOf = (change: Change) => {
    const token = tokens.get(change) ?? randomUUID();
    tokens.set(change, token);
    return token;
  };
  const queue = createWriteQueue((changes) =>
    session.run((link) => makeChanges(link, { address, tokenOf, epochOf: claims.epochOf }, changes)),
  );
  const claims: Claims = createClaims({
    ...{ location, holder: randomUUID(), beatMs, hungMs, answeredAt: session.answeredAt },
    run: (work) => queue.run(() => session.run(work)),
    attempt: async (work) => await queue.run(() => session.attempt(work)),
  });
  let closing: Promise<void> | undefined;
  const open = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (closing !== undefined) throw closedStoreError(location);
    return await work();
  };
  const run: Run = (work) => open(() => queue.run(() => session.run(work)));
  const change = async <Result>(wanted: Change, read: (answer: Row) => Result): Promise<Result> => {
    const answer = await open(() => queue.change(wanted));
    try {
      return read(answer);
    } catch (error) {
      throw toPostgresError(error, address);
    }
  };
  const close = async () => {
    await queue.onIdle();
    await claims.releaseAll();
    await Promise.all([session.close(), listener.close(), changes.close(), texts.close()]);
  };
  const shared = workMethods({ address, hungMs, run });
  const single = changeMethods({ location, change });
  const driver = createDriver(location, run);
  const load = (runId: string) => (step: string, number: number) => texts.read({ runId, step, number });
  return {
    location,
    ...single,
    ...{ work: shared.work, decide: shared.decide, outbox: createOutbox(driver) },
    ...readMethods(driver, { load, hungMs }),
    ...identityMethods(driver),
    ...pinMethods(driver),
    createRun: async (wanted) =>
      await (wanted.isDispatched === true ? shared.createQueued(wanted) : single.createRun(wanted)),
    endStep: async (runId, step, outcome, at) => {
      const { record, fresh } = toKeptRecord(outcome, { runId, step });
      await change({ what: 'end_step', runId, step: { step, outcome: record, at } }, () => {});
      for (const text of fresh) {
        texts.hold(text.place, text.read());
        text.release();
      }
    },
    readText: texts.read,
    prune: async (before) => {
      const text = 'SELECT * FROM signalbox.prune($1, $2, $3)';
      let removed = 0;
      for (let behind = 0; ; ) {
        const [row = {}] = await run((link) => link.query({ text, values: [before, behind, claims.held()] }));
        removed += numberOf(row, 'removed');
        if (numberOf(row, 'seen') === 0) return removed;
        behind = numberOf(row, 'last');
      }
    },
    claimRun: async (runId) => {
      checkRunId(runId);
      return await open(() => claims.claim(runId));
    },
    coverRun: claims.cover,
    listClaimed: () =>
      run(async (link) => {
        const rows = await link.query({ text: claimed });
        return new Set(rows.map((row) => textOf(decodeRow(row), 'run_id')));
      }),
    now: () =>
      run(async (link) => {
        const text = 'SELECT signalbox.now_ms($1) AS now';
        const [row = {}] = await link.query({ name: 'now', text, values: [Date.now()] });
        return numberOf(row, 'now');
      }),
    watch: listener.watch,
    changes: {
      kinds: watchKinds,
      watch: (tell) => changes.watch((told) => tell(watchKinds.find((kind) => kind === told))),
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const claimed = `SELECT c.run_id FROM signalbox.claims AS c JOIN signalbox.holders AS h ON h.id = c.holder
  JOIN pg_stat_activity AS a ON a.pid = h.pid AND a.backend_start = h.backend_start`;

interface ChangeMaker {
  readonly address: Address;
  epochOf(runId: string): number | null;
  /** Returns the same token for each repetition of a change. */
  tokenOf(change: Change): string;
}

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

/**
 * The maximum in one statement. Source: https://www.postgresql.org/docs/current/limits.html (1,664 columns of a result)
 */
const MOST_CALLS = 500;

async function callAll(link: Link, calls: readonly FunctionCall[]): Promise<unknown[]> {
  const [row] = await link.query(toStatement(calls));
  if (row === undefined) throw new DamagedError('the store did not answer some changes');
  return calls.map((_, index) => row[`a${index}`]);
}

function toAnswer({ runId }: Change, text: unknown, address: Address): Answer {
  const row = readAnswer(text);
  const { refused } = row;
  if (refused === undefined) return { row: decodeRow(row) };
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

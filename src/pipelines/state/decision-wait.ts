import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type { Fence } from '../../base/time/fence.ts';
import { readPendingDecision } from '../../calls/tool-call/approvals.ts';
import type { DecidedRecord } from '../../calls/tool-call/pending-call.ts';
import type { PendingCall, PendingDecision, PendingRecord } from '../../contract/approval.ts';
import type { Emit, PendingOpened } from '../../contract/event.ts';
import type { Store } from '../../store/store.ts';
import { openChangeWaiter } from './change-waiter.ts';
import { RunSuspended } from './journal.ts';

export interface WaitOptions {
  /** true: this process waits for decisions made elsewhere. false: the run is suspended. */
  readonly wait: boolean;
  /** Asks for a decision here. If it returns undefined or rejects, the call stays pending; a rejection adds a note. */
  readonly ask?: ((pending: PendingRecord) => Promise<PendingDecision | undefined>) | undefined;
  /** Called for each pending call once it is stored. Must not throw. */
  readonly onPending?: ((pending: PendingRecord) => void) | undefined;
}

export interface JournalContext extends WaitOptions {
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly around?: Fence | undefined;
  /** The outermost run, and this run's path in it, which ends with `/`. Absent: this is the outermost run. */
  readonly root?: string;
  readonly place?: string;
  /** Whether the run was created under the claim, so that it has no steps yet. */
  readonly isNew?: boolean;
}

export function announce(record: PendingRecord, { emit, onPending }: JournalContext): void {
  if (record.ruling !== null) return;
  emit(toPendingOpened(record));
  onPending?.(record);
}

export function toPendingOpened({ id, runId, step, tool, reason, message }: PendingCall): PendingOpened {
  return { type: 'pending.opened', id, run: runId, step, tool, reason, message };
}

/** Returns the records with their decisions. Throws RunSuspended, RUN_ENDED, ABORTED, STORE_FAILED. */
export async function resolveDecisions(
  store: Store,
  records: readonly PendingRecord[],
  context: JournalContext,
): Promise<readonly DecidedRecord[]> {
  let current = await refresh(store, records);
  if (context.ask !== undefined) {
    for (const record of current) if (record.ruling === null) await askOne(store, record, context);
    current = await refresh(store, current);
  }
  if (!current.every(isDecided)) {
    if (!context.wait) throw new RunSuspended();
    current = await waitForDecisions(store, current, context.signal);
  }
  const decidedRecords = current.filter(isDecided);
  if (decidedRecords.some(({ ruling }) => ruling.kind === 'cancelled')) {
    throw new RuntimeError('RUN_ENDED', 'the run was cancelled');
  }
  for (const { id, runId, step, tool, ruling } of decidedRecords) {
    context.emit({ type: 'pending.decided', id, run: runId, step, tool, ruling: ruling.kind });
  }
  return decidedRecords;
}

async function askOne(store: Store, record: PendingRecord, context: JournalContext): Promise<void> {
  const decision = await askForDecision(record, context);
  // If another process decided first, the refresh finds that decision.
  if (decision !== undefined) await store.decide(record.id, decision, Date.now());
}

async function askForDecision(
  record: PendingRecord,
  { ask, emit }: JournalContext,
): Promise<PendingDecision | undefined> {
  try {
    const given: unknown = await ask?.(record);
    return given === undefined ? undefined : readPendingDecision(record, given);
  } catch (error) {
    const message = `the request for a decision failed: ${toRuntimeError(error).message}`;
    emit({ type: 'note', name: record.id, level: 'warn', message });
    return undefined;
  }
}

/** Resolves once all are decided by any process, or expired. Throws ABORTED, STORE_FAILED. */
async function waitForDecisions(
  store: Store,
  records: readonly PendingRecord[],
  signal: AbortSignal,
): Promise<PendingRecord[]> {
  const waiter = openChangeWaiter(store, signal);
  try {
    let current = await refresh(store, records);
    while (!current.every(isDecided)) {
      const expiries = current.flatMap(({ ruling, expiresAt }) =>
        ruling !== null || expiresAt === null ? [] : [expiresAt],
      );
      await waiter.next(expiries.length === 0 ? undefined : Math.min(...expiries));
      current = await refresh(store, current);
    }
    return current;
  } finally {
    waiter.close();
  }
}

async function refresh(store: Store, records: readonly PendingRecord[]): Promise<PendingRecord[]> {
  const fresh: PendingRecord[] = [];
  for (const record of records) {
    const found = record.ruling === null ? await store.findPending(record.id, Date.now()) : record;
    fresh.push(found ?? record);
  }
  return fresh;
}

function isDecided(record: PendingRecord): record is DecidedRecord {
  return record.ruling !== null;
}

import { randomBytes } from 'node:crypto';
import { RuntimeError, toFault } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { Emit } from '../../contract/event.ts';
import { toPendingOpened } from '../../pipelines/state/decision-wait.ts';
import type { NewRun, Store } from '../../store/store.ts';
import { AGENT_SOURCE, GATEWAY_RUN } from '../../store/store-rules.ts';
import type { JudgeContext } from '../ports.ts';

export interface PendingRunOptions {
  /** Called on first use. Throws STORE_FAILED. */
  readonly openStore: () => Promise<Store>;
  readonly config: string;
  readonly emit: Emit;
}

/** The waiting calls of one response, stored as a run. All methods throw STORE_FAILED. */
export interface PendingRun {
  readonly id: string;
  list(): Promise<readonly PendingRecord[]>;
  /** Stores the calls that are not stored yet. Passes the new ones to `tell` when all are on disk. */
  add(
    calls: readonly PendingCall[],
    context: JudgeContext,
    tell: (kept: PendingRecord) => Promise<void>,
  ): Promise<readonly PendingRecord[]>;
}

export function newRunId(): string {
  return `run_${randomBytes(8).toString('hex')}`;
}

export function openPendingRun(id: string, { openStore, config, emit }: PendingRunOptions): PendingRun {
  const list = async () => await (await openStore()).listPendings({ runId: id }, Date.now());
  return {
    id,
    list,
    add: async (calls, { caller, endpoint, model }, tell) => {
      const input = Json.from({ caller: caller.name, endpoint, model });
      const run = { id, name: GATEWAY_RUN, config, input };
      const { records, added } = await keepAgentCalls(await openStore(), run, calls);
      for (const record of added) {
        emit(toPendingOpened(record));
        await tell(record);
      }
      return records;
    },
  };
}

/** Ends runs whose calls were all decided before `before` (ms since 1970) and not used. Throws STORE_FAILED. */
export async function endForgottenRuns(store: Store, before: number): Promise<void> {
  const waiting = await store.listRuns({ status: 'pending' });
  for (const { id, source } of waiting) {
    if (source !== AGENT_SOURCE) continue;
    const calls = await store.listPendings({ runId: id }, Date.now());
    const isForgotten = calls.every(({ decidedAt }) => decidedAt !== null && decidedAt < before);
    if (isForgotten) await store.setRunStatus(id, { status: 'failed', error: forgotten, at: Date.now() });
  }
}

const forgotten = toFault(
  new RuntimeError('ABORTED', 'the caller did not come back after the decision', { hint: '' }),
);

/** A run with calls that an agent or the caller of a gateway makes itself, and what it said about itself. */
type AgentRun = Pick<NewRun, 'id' | 'name' | 'config' | 'input'>;

/**
 * Stores calls that wait for a person; concurrent callers create one run. `added` are those that were not stored yet.
 * Throws STORE_FAILED.
 */
export async function keepAgentCalls(
  store: Store,
  run: AgentRun,
  calls: readonly PendingCall[],
): Promise<{ readonly records: readonly PendingRecord[]; readonly added: readonly PendingRecord[] }> {
  const { id } = run;
  await ensureRun(store, run);
  const known = new Set((await store.listPendings({ runId: id }, Date.now())).map((record) => record.id));
  const records: PendingRecord[] = [];
  for (const call of calls) records.push(await store.addPending(call));
  await store.setRunStatus(id, { status: 'pending', at: Date.now() });
  return { records, added: records.filter((record) => !known.has(record.id)) };
}

async function ensureRun(store: Store, run: AgentRun): Promise<void> {
  if ((await store.findRunStatus(run.id)) !== undefined) return;
  const about = { ...run, kind: 'tool', file: null, source: AGENT_SOURCE, createdAt: Date.now() } as const;
  try {
    await store.createRun(about);
  } catch (error) {
    if ((await store.findRunStatus(run.id)) === undefined) throw error;
  }
}

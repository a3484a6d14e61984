import { randomBytes } from 'node:crypto';
import { Json } from '../../base/json/json.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { Emit } from '../../contract/event.ts';
import type { Store } from '../../store/store.ts';
import { AGENT_SOURCE } from '../../store/store-rules.ts';
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
    add: async (calls, context, tell) => {
      const store = await openStore();
      await ensureRun(store, { id, config }, context);
      const known = new Set((await list()).map((record) => record.id));
      const records: PendingRecord[] = [];
      for (const call of calls) records.push(await store.addPending(call));
      await store.setRunStatus(id, { status: 'pending', at: Date.now() });
      for (const record of records.filter((each) => !known.has(each.id))) {
        emit(toOpened(record));
        await tell(record);
      }
      return records;
    },
  };
}

/** Completes runs whose calls were all decided before `before` (ms since 1970), for pruning. Throws STORE_FAILED. */
export async function endForgottenRuns(store: Store, before: number): Promise<void> {
  const waiting = await store.listRuns({ status: 'pending' });
  for (const { id, source } of waiting) {
    if (source !== AGENT_SOURCE) continue;
    const calls = await store.listPendings({ runId: id }, Date.now());
    const isForgotten = calls.every(({ decidedAt }) => decidedAt !== null && decidedAt < before);
    if (isForgotten) await store.setRunStatus(id, { status: 'completed', at: Date.now() });
  }
}

/** Concurrent requests create only one run. */
async function ensureRun(
  store: Store,
  { id, config }: { readonly id: string; readonly config: string },
  { caller, endpoint, model }: JudgeContext,
): Promise<void> {
  if ((await store.findRunStatus(id)) !== undefined) return;
  const input = Json.from({ caller: caller.name, endpoint, model });
  const run = { id, kind: 'tool', name: 'gateway', file: null, source: AGENT_SOURCE } as const;
  try {
    await store.createRun({ ...run, config, input, createdAt: Date.now() });
  } catch (error) {
    if ((await store.findRunStatus(id)) === undefined) throw error;
  }
}

function toOpened({ id, runId, step, tool, reason, message }: PendingRecord) {
  return { type: 'pending.opened', id, run: runId, step, tool, reason, message } as const;
}

import { Json } from '../../base/json/json.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { AgentCaller } from '../../dialects/inbound.ts';
import { keepAgentCalls } from '../../gateway/judge/pending-run.ts';
import { claimCallRun } from '../../pipelines/run/direct-call-run.ts';
import { IDENTITY_MS, identify } from '../../store/identities.ts';
import type { Store } from '../../store/store.ts';
import { isEnded } from '../../store/store-rules.ts';

export interface AskedCall {
  readonly caller: AgentCaller;
  readonly tool: string;
  readonly args: Json;
  readonly config: string;
  toPending(runId: string): PendingCall;
}

export interface AgentQuestion {
  readonly record: PendingRecord;
  readonly isNew: boolean;
}

/**
 * Returns the open question about a call or a decision that still applies, else stores a new question. Calls are the
 * same if caller, tool and arguments are equal. Throws STORE_FAILED.
 */
export async function openQuestion(store: Store, call: AskedCall): Promise<AgentQuestion> {
  const { caller, tool, args } = call;
  const principal = JSON.stringify([caller.agent, caller.session, caller.cwd]);
  const name = identify({ principal }, tool, args);
  // Each question is a run of its own, which ends when its decision is used. The next equal call opens a new one.
  for (;;) {
    const run = await claimCallRun(store, name);
    const { id } = run;
    if (!run.isTaken) {
      try {
        return await ask(store, call, id);
      } finally {
        await run.claim?.release();
      }
    }
    const [record] = await store.listPendings({ runId: id }, Date.now());
    if (record === undefined) return await ask(store, call, id);
    const status = await store.findRunStatus(id);
    const isOver = status !== undefined && isEnded(status);
    const counts = isOver ? isFinal(record) : record.ruling?.kind !== 'expired';
    if (counts && (record.ruling === null || isRecent(record))) return { record, isNew: false };
    if (!isOver) await store.setRunStatus(id, { status: 'failed', at: Date.now() });
    await store.endIdentity(name.key, id);
  }
}

/**
 * Ends the question by its decision. Returns true to only one caller across all processes, because an approval is for
 * one call. Throws STORE_FAILED.
 */
export async function useDecision(
  store: Store,
  { runId }: PendingRecord,
  isPassed: boolean,
): Promise<boolean> {
  return await store.setRunStatus(runId, { status: isPassed ? 'completed' : 'denied', at: Date.now() });
}

function isFinal({ ruling }: PendingRecord): boolean {
  return ruling?.kind === 'rejected' || ruling?.kind === 'responded';
}

function isRecent({ decidedAt }: PendingRecord): boolean {
  return decidedAt !== null && decidedAt > Date.now() - IDENTITY_MS;
}

async function ask(
  store: Store,
  { caller, config, toPending }: AskedCall,
  id: string,
): Promise<AgentQuestion> {
  const { agent, session, cwd } = caller;
  const run = { id, name: agent, config, input: Json.from({ session, cwd }) };
  const { records, added } = await keepAgentCalls(store, run, [toPending(id)]);
  const [record] = records;
  if (record === undefined) throw new TypeError(`run ${id} has no call`);
  return { record, isNew: added.length > 0 };
}

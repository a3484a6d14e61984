import { createHash } from 'node:crypto';
import { canonicalJson } from '../../base/json/equal.ts';
import { Json, parseLossless } from '../../base/json/json.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { AgentCaller } from '../../dialects/inbound.ts';
import type { Store } from '../../store/store.ts';
import { AGENT_SOURCE, isEnded } from '../../store/store-rules.ts';

/** How long a decision counts for the same call: an approval until it is used, a rejection however often the call is made. */
export const COUNTS_FOR_MS = 24 * 3600 * 1000;

/** A call of an agent about which people are asked. */
export interface AskedCall {
  readonly caller: AgentCaller;
  readonly tool: string;
  readonly args: Json;
  /** The RuntimeConfig file, and what is laid over it. */
  readonly config: string;
  /** The record of the question in the run of this id. */
  toPending(runId: string): PendingCall;
}

export interface AgentQuestion {
  readonly record: PendingRecord;
  /** Nobody has been told of it yet. */
  readonly isNew: boolean;
}

/**
 * What is asked about a call, or was decided and still counts; asked now, and on the disk, where there is neither. The same
 * caller with the same tool and the same arguments is the same call. Throws STORE_FAILED.
 */
export async function openQuestion(store: Store, call: AskedCall): Promise<AgentQuestion> {
  const name = nameOf(call);
  // A question is a run of its own, which ends when its decision is used: the next call like it is asked about anew.
  for (let count = 1; ; count += 1) {
    const runId = `${name}_${count}`;
    const status = await store.findRunStatus(runId);
    if (status === undefined) return await ask(store, call, runId);
    const [record] = await store.listPendings({ runId }, Date.now());
    if (isEnded(status)) {
      if (record !== undefined && isFinal(record) && isRecent(record)) return { record, isNew: false };
      continue;
    }
    if (record === undefined) return await ask(store, call, runId);
    if (record.ruling === null || (record.ruling.kind !== 'expired' && isRecent(record)))
      return { record, isNew: false };
    await store.setRunStatus(runId, { status: 'failed', at: Date.now() });
  }
}

/**
 * Ends the question by its decision. Of all who have read it, in whatever process, one gets true: an approval is for one call.
 * Throws STORE_FAILED.
 */
export async function useDecision(
  store: Store,
  { runId }: PendingRecord,
  isPassed: boolean,
): Promise<boolean> {
  return await store.setRunStatus(runId, { status: isPassed ? 'completed' : 'denied', at: Date.now() });
}

function nameOf({ caller, tool, args }: AskedCall): string {
  const { agent, session, cwd } = caller;
  const call = canonicalJson([agent, session, cwd, tool, parseLossless(args.text)]);
  return `agent_${createHash('sha256').update(call).digest('hex').slice(0, 32)}`;
}

/** A call that a person has said no to, or answered for, is not made later either. */
function isFinal({ ruling }: PendingRecord): boolean {
  return ruling?.kind === 'rejected' || ruling?.kind === 'responded';
}

function isRecent({ decidedAt }: PendingRecord): boolean {
  return decidedAt !== null && decidedAt > Date.now() - COUNTS_FOR_MS;
}

async function ask(store: Store, call: AskedCall, runId: string): Promise<AgentQuestion> {
  await ensureRun(store, call, runId);
  const known = await store.listPendings({ runId }, Date.now());
  const record = await store.addPending(call.toPending(runId));
  await store.setRunStatus(runId, { status: 'pending', at: Date.now() });
  return { record, isNew: known.length === 0 };
}

/** Two that come at once make one run. */
async function ensureRun(store: Store, { caller, config }: AskedCall, id: string): Promise<void> {
  if ((await store.findRunStatus(id)) !== undefined) return;
  const { agent, session, cwd } = caller;
  const run = { id, kind: 'tool', name: agent, file: null, source: AGENT_SOURCE } as const;
  try {
    await store.createRun({ ...run, config, input: Json.from({ session, cwd }), createdAt: Date.now() });
  } catch (error) {
    if ((await store.findRunStatus(id)) === undefined) throw error;
  }
}

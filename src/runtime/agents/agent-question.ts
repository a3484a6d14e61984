import { createHash } from 'node:crypto';
import { canonicalJson } from '../../base/json/equal.ts';
import { Json, parseLossless } from '../../base/json/json.ts';
import type { PendingCall, PendingRecord } from '../../contract/approval.ts';
import type { AgentCaller } from '../../dialects/inbound.ts';
import type { Store } from '../../store/store.ts';
import { AGENT_SOURCE, isEnded } from '../../store/store-rules.ts';

/** How long a decision applies to the same call: an approval until it is used, a rejection for every call. */
export const COUNTS_FOR_MS = 24 * 3600 * 1000;

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
  const name = nameOf(call);
  // Each question is a run of its own, which ends when its decision is used. The next equal call opens a new one.
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

function nameOf({ caller, tool, args }: AskedCall): string {
  const { agent, session, cwd } = caller;
  const call = canonicalJson([agent, session, cwd, tool, parseLossless(args.text)]);
  return `agent_${createHash('sha256').update(call).digest('hex').slice(0, 32)}`;
}

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

/** Two concurrent calls create one run. */
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

import type { PendingDocument, PendingRecord, Ruling } from '../../contract/approval.ts';
import { ok } from '../../contract/tool.ts';
import { RuntimeError } from '../../errors.ts';
import { Json } from '../../json/json.ts';
import type { Store } from '../../store/store.ts';
import { checkResult } from '../../tool-call/after.ts';
import { readGivenArgs } from '../../tool-call/args.ts';
import { type CallableTool, readCheckedArgs } from '../../tool-call/callable.ts';
import { type Decider, requireDecision } from '../../tool-call/decider.ts';
import { toPendingDocument } from './document.ts';

export interface RulingContext {
  readonly store: Store;
  readonly tools: ReadonlyMap<string, CallableTool>;
}

/**
 * Approves a pending call, with other arguments if there are any: these are checked against the tool's
 * schema now, and pass its hooks when the run goes on. Throws USAGE, RUN_UNKNOWN, ARGS_INVALID, PENDING_DECIDED,
 * PENDING_EXPIRED, STORE_FAILED.
 */
export async function approve(
  context: RulingContext,
  id: string,
  decision: Decider & { readonly args?: unknown },
): Promise<PendingDocument> {
  const { by, reason, args } = requireDecision(decision);
  const record = await requirePending(context.store, id);
  const edited = args === undefined ? null : readEdited(requireTool(context, record), args);
  return await decide(context.store, record, { kind: 'approved', args: edited, by, reason });
}

function readEdited(tool: CallableTool, args: unknown): Json {
  return readCheckedArgs(tool, readGivenArgs(tool.name, args), true);
}

/** Rejects a pending call: it fails with REJECTED. Throws as `approve` does. */
export async function reject(
  { store }: RulingContext,
  id: string,
  decision: Decider,
): Promise<PendingDocument> {
  const { by, reason } = requireDecision(decision);
  return await decide(store, await requirePending(store, id), { kind: 'rejected', by, reason });
}

/**
 * Answers in the tool's place: the result is checked against the tool's output schema now, and passes its
 * hooks when the run goes on. Throws as `approve` does, and RESULT_INVALID.
 */
export async function respond(
  context: RulingContext,
  id: string,
  decision: Decider & { readonly result: unknown },
): Promise<PendingDocument> {
  const { by, reason, result } = requireDecision(decision);
  const record = await requirePending(context.store, id);
  if (result === undefined) throw new RuntimeError('USAGE', 'the answer has no `result`');
  const json = Json.from(result);
  const checked = checkResult(requireTool(context, record), ok(json));
  if (checked.status === 'failed') {
    const { message, hint } = checked.error;
    throw new RuntimeError('RESULT_INVALID', message, { hint });
  }
  return await decide(context.store, record, { kind: 'responded', result: json, by, reason });
}

/** Throws RUN_UNKNOWN, STORE_FAILED. */
export async function requirePending(store: Store, id: string): Promise<PendingRecord> {
  const record = typeof id === 'string' ? await store.findPending(id, Date.now()) : undefined;
  if (record !== undefined) return record;
  throw new RuntimeError('RUN_UNKNOWN', `there is no pending call "${id}" in ${store.place}`, {
    hint: 'Run `signalbox pending list`; --config chooses the store.',
  });
}

function requireTool({ tools }: RulingContext, { tool: name }: PendingRecord): CallableTool {
  const tool = tools.get(name);
  if (tool !== undefined) return tool;
  throw new RuntimeError('NAME_UNKNOWN', `there is no tool "${name}" any more`);
}

async function decide(store: Store, { id }: PendingRecord, ruling: Ruling): Promise<PendingDocument> {
  const decided = await store.decide(id, ruling, Date.now());
  if (decided === undefined) return toPendingDocument(await requirePending(store, id));
  if (decided.won) return toPendingDocument(decided.record);
  throw lost(decided.record);
}

function lost(record: PendingRecord): RuntimeError {
  const { id, tool, ruling } = record;
  const details = { decision: toPendingDocument(record) };
  if (ruling?.kind === 'expired') {
    return new RuntimeError('PENDING_EXPIRED', `${id} (tool "${tool}") has expired`, { details });
  }
  const by = ruling !== null && 'by' in ruling && ruling.by !== '' ? ` by ${ruling.by}` : '';
  const message = `${id} (tool "${tool}") has been ${ruling?.kind ?? 'decided'}${by} already`;
  return new RuntimeError('PENDING_DECIDED', message, { details });
}

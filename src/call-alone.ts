import type { PendingCall } from './contract/approval.ts';
import type { ToolDocument } from './contract/document.ts';
import type { Emit } from './contract/event.ts';
import { failed } from './contract/tool.ts';
import type { LazyStore } from './durable.ts';
import { toFault } from './errors.ts';
import { type CallableTool, callTool } from './pipeline/call.ts';
import { type CallPaused, type CallResult, settled } from './pipeline/call-result.ts';
import { toToolDocument } from './pipeline/document.ts';
import { ruleCall } from './pipeline/rule-call.ts';
import { keepCall, newPending } from './pipeline/single-call.ts';
import { openedEvent } from './pipeline/store-journal.ts';
import type { CallOptions } from './runtime-api.ts';

interface Place {
  readonly tool: CallableTool;
  readonly store: LazyStore;
  /** The RuntimeConfig file, absolute. */
  readonly config: string;
  readonly emit: Emit;
}

/**
 * A tool call outside any pipeline. When it waits for a person and nobody consents on the spot, it is kept as
 * a run of its own; if the store cannot keep it, the call has failed. Never rejects.
 */
export async function callAlone(
  place: Place,
  args: unknown,
  { approve, signal, callId }: CallOptions,
): Promise<ToolDocument> {
  const { tool } = place;
  let result = await callTool(tool, args, { callId, signal });
  let previous: string | null = null;
  let consented: ReadonlySet<string> = new Set();
  while (result.outcome.status === 'pending' && approve !== undefined) {
    // A tool that has its approval and asks again wants more than consent.
    if (previous !== null && result.outcome.origin === 'tool') break;
    const pending = newPending(tool, { result, outcome: result.outcome, previous });
    consented = new Set([...consented, ...(pending.hook === null ? [] : [pending.hook])]);
    const next = await consent(tool, pending, { approve, signal, consented });
    if (next === undefined) break;
    result = next;
    previous = pending.id;
  }
  const { outcome } = result;
  if (outcome.status !== 'pending') return toToolDocument({ ...result, outcome });
  return await keep(place, result, outcome);
}

interface Consenting {
  readonly approve: NonNullable<CallOptions['approve']>;
  readonly signal: AbortSignal | undefined;
  readonly consented: ReadonlySet<string>;
}

/** The call carried out, when somebody consents; undefined when nobody does. */
async function consent(
  tool: CallableTool,
  pending: PendingCall,
  { approve, signal, consented }: Consenting,
): Promise<CallResult | undefined> {
  const { id, callId, reason, message } = pending;
  try {
    const approval = await approve({ id, tool: tool.name, callId, reason, message });
    if (approval === undefined) return undefined;
    const { by, reason: why } = approval;
    const ruling = { kind: 'approved', args: null, by, reason: why } as const;
    return await ruleCall(tool, { pending: { ...pending, id: approval.id }, ruling, consented }, { signal });
  } catch (error) {
    return settled({ tool: tool.name, callId }, failed(toFault(error)));
  }
}

async function keep(
  { tool, store, config, emit }: Place,
  result: CallResult,
  outcome: CallPaused,
): Promise<ToolDocument> {
  try {
    const kept = await keepCall({ store: await store.open(), config }, tool, { result, outcome });
    emit(openedEvent(kept));
    const { id, runId, reason, message } = kept;
    return { status: 'pending', pending: { id, run_id: runId, reason, message } };
  } catch (error) {
    return toToolDocument({ ...result, outcome: failed(toFault(error)) });
  }
}

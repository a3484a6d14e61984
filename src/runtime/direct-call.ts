import { randomUUID } from 'node:crypto';
import { isCutOff } from '../capability/cut-off.ts';
import type { Approval, PendingCall, Ruling } from '../contract/approval.ts';
import type { ToolDocument } from '../contract/document.ts';
import type { Emit } from '../contract/event.ts';
import { failed, type ToolFailed } from '../contract/tool.ts';
import { bareScene, type Scene } from '../contract/turn.ts';
import { RuntimeError, toFault } from '../errors.ts';
import { isObject } from '../json/json.ts';
import { keepCall, newPending, type PausedCall } from '../pipeline/run/direct-call.ts';
import { openedEvent } from '../pipeline/state/store-journal.ts';
import { type Consent, consentsIn } from '../tool-call/allowance.ts';
import { readArgs } from '../tool-call/args.ts';
import { callTool } from '../tool-call/call.ts';
import type { CallableTool } from '../tool-call/callable.ts';
import { ruleCall } from '../tool-call/decide.ts';
import { requireDecider } from '../tool-call/decider.ts';
import { toToolDocument } from '../tool-call/document.ts';
import { tellPending } from '../tool-call/tell-pending.ts';
import type { CallOptions } from './api.ts';
import type { LazyStore } from './lazy-store.ts';

interface Place {
  readonly tool: CallableTool;
  readonly store: LazyStore;
  /** The RuntimeConfig file, absolute. */
  readonly config: string;
  readonly emit: Emit;
  /** Whether the store outlives the process. */
  readonly isDurable: boolean;
  /** The tool that a hook may rename the call to. */
  readonly find?: ((name: string) => CallableTool | undefined) | undefined;
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
  const isUnattended = approve === undefined && !place.isDurable;
  const name = callId ?? `call_${randomUUID()}`;
  const scene = { ...bareScene(name), now: new Date().toISOString() };
  const context = { signal, scene, find: place.find };
  let result = await callTool(tool, args, { ...context, callId: name, isByHost: true, isUnattended });
  let previous: string | null = null;
  let consents: readonly Consent[] = [];
  while (result.outcome.status === 'pending' && approve !== undefined) {
    // A tool that has its approval and asks again wants more than consent.
    if (previous !== null && result.outcome.origin === 'tool') break;
    const pending = newPending(tool, { result, outcome: result.outcome, previous });
    const ruling = await consentTo(tool, pending, approve);
    if (ruling === undefined) break;
    if ('failed' in ruling) return toToolDocument({ ...result, outcome: ruling.failed });
    consents = [...consents, ...consentsIn({ pending, ruling })];
    const ruled = {
      pending: { ...pending, id: ruling.id },
      ruling,
      from: readArgs(tool.name, args),
      consents,
    };
    result = await ruleCall(tool, ruled, context);
    previous = pending.id;
  }
  const { outcome } = result;
  // A hook that was not allowed to finish has decided nothing.
  if (outcome.status === 'denied' && outcome.error !== undefined && isCutOff(outcome.error)) {
    return toToolDocument({ ...result, outcome: failed(outcome.error) });
  }
  if (outcome.status !== 'pending') return toToolDocument({ ...result, outcome });
  return await keep(place, { args: readArgs(tool.name, args), result, outcome }, scene);
}

type Approved = Extract<Ruling, { kind: 'approved' }> & { readonly id: string };

/** The ruling of whoever is there to consent; undefined when nobody does. Never rejects. */
async function consentTo(
  { name: tool }: CallableTool,
  { id, callId, reason, message }: PendingCall,
  approve: NonNullable<CallOptions['approve']>,
): Promise<Approved | { readonly failed: ToolFailed } | undefined> {
  try {
    const approval: unknown = await approve({ id, tool, callId, reason, message });
    if (approval === undefined) return undefined;
    requireApproval(approval);
    return { kind: 'approved', args: null, by: approval.by, reason: approval.reason, id: approval.id };
  } catch (error) {
    return { failed: failed(toFault(error)) };
  }
}

/** Nothing but an approval consents: a caller without types may hand in anything. Throws USAGE. */
function requireApproval(given: unknown): asserts given is Approval {
  const { id, decision, by, reason } = isObject(given) ? given : {};
  const texts = [id, by, reason].every((text) => typeof text === 'string');
  if (decision === 'approved' && texts) {
    requireDecider(by);
    return;
  }
  throw new RuntimeError('USAGE', '`approve` gave no approval, so the tool was not called', {
    hint: "Give {id, decision: 'approved', by, reason} to consent, or undefined to leave the call waiting.",
  });
}

async function keep(
  { tool, store, config, emit }: Place,
  paused: PausedCall,
  scene: Scene,
): Promise<ToolDocument> {
  try {
    const kept = await keepCall({ store: await store.open(), config }, tool, paused);
    emit(openedEvent(kept));
    await tellPending({ tool, callId: kept.callId }, kept, scene);
    const { id, runId, reason, message } = kept;
    return { status: 'pending', pending: { id, run_id: runId, reason, message } };
  } catch (error) {
    return toToolDocument({ ...paused.result, outcome: failed(toFault(error)) });
  }
}

import { RuntimeError, toFault } from '../../base/errors.ts';
import { isCancelled } from '../../calls/capability/cancellation.ts';
import { rejectedResult, resultOf } from '../../calls/hooks/call-result.ts';
import type { AgentTools } from '../../calls/tool-call/agent-tool.ts';
import {
  findRequiredApproval,
  hasHooksBefore,
  passBeforeHooks,
} from '../../calls/tool-call/before-execution.ts';
import { unfilteredCall } from '../../calls/tool-call/call.ts';
import { type Call, type FilteredCall, namesOf } from '../../calls/tool-call/callable-tool.ts';
import { filterApproved, refuseDecider } from '../../calls/tool-call/decided-call.ts';
import type { DecidedRecord } from '../../calls/tool-call/pending-call.ts';
import { failed, ok } from '../../contract/tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { noMetadata } from '../../dialects/metadata.ts';
import { argsForHooks, checkedArgsForHooks } from './call-args.ts';
import type { CallHistory } from './call-decisions.ts';
import type { ClientCall } from './client-calls.ts';

export interface CallFiltering {
  readonly tools: AgentTools;
  readonly hookContext: HookContext;
  readonly signal: AbortSignal;
  /** Nobody can decide later. */
  readonly isUnattended: boolean;
}

/** A call as its hooks, its approval rule and what people have decided leave it. Throws what the signal was aborted with. */
export async function filterClientCall(
  client: ClientCall,
  history: CallHistory,
  filtering: CallFiltering,
): Promise<FilteredCall> {
  const { tools, hookContext, signal, isUnattended } = filtering;
  const { last } = history;
  // The config's rule was about the call as hooks had renamed it, if they had.
  const name = last?.origin === 'approval' ? last.tool : client.name;
  const call: Call = {
    ...{ tool: tools(name), callId: client.id, toolUseId: client.id },
    ...{ signal, hookContext, isUnattended, find: tools },
  };
  const filtered =
    last === undefined
      ? await filterFirst(call, client)
      : await filterDecided(call, client, { ...history, last });
  const { outcome } = filtered.stopped ?? {};
  if (outcome?.status === 'denied' && isCancelled(outcome.error)) signal.throwIfAborted();
  return filtered;
}

async function filterFirst(call: Call, { args: asked }: ClientCall): Promise<FilteredCall> {
  try {
    const args = checkedArgsForHooks(call.tool, asked);
    const unfiltered = unfilteredCall(call, args);
    const before = hasHooksBefore(call.tool) ? await passBeforeHooks(unfiltered) : unfiltered;
    if (before.stopped !== undefined) return before;
    const stopped = before.call.tool.approval && findRequiredApproval(before);
    return stopped === undefined ? before : { ...before, stopped };
  } catch (error) {
    const stopped = resultOf(namesOf(call), failed(toFault(error)));
    return { ...unfilteredCall(call, noMetadata), stopped };
  }
}

async function filterDecided(
  call: Call,
  client: ClientCall,
  { last, editedArgs, approvals }: CallHistory & { readonly last: DecidedRecord },
): Promise<FilteredCall> {
  const { ruling, ...pending } = last;
  const unfiltered = unfilteredCall(call, pending.args);
  switch (ruling.kind) {
    case 'approved':
      return await filterApproved(call, {
        ...{
          pending,
          decision: ruling,
          asked: editedArgs ?? argsForHooks(client.name, client.args),
          approvals,
        },
      });
    case 'responded': {
      const refused = refuseDecider(call, pending, ruling);
      const stopped = refused ?? resultOf(namesOf(call), ok(ruling.result));
      return { ...unfiltered, stopped };
    }
    case 'rejected':
    case 'cancelled': {
      const error = new RuntimeError('REJECTED', `tool "${call.tool.name}" was rejected`);
      return { ...unfiltered, stopped: rejectedResult(namesOf(call), toFault(error), ruling.reason) };
    }
    case 'expired': {
      const message = `nobody decided about tool "${call.tool.name}" in time`;
      const error = toFault(new RuntimeError('PENDING_EXPIRED', message));
      return { ...unfiltered, stopped: resultOf(namesOf(call), failed(error)) };
    }
  }
}

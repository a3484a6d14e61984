import { toFault } from '../../base/errors.ts';
import type { Json } from '../../base/json/json.ts';
import { nextCallId } from '../../contract/call-id.ts';
import { failed } from '../../contract/tool.ts';
import { noMetadata } from '../../dialects/metadata.ts';
import { type CallResult, resultOf } from '../hooks/call-result.ts';
import { executeCall } from './after-execution.ts';
import { findRequiredApproval, hasHooksBefore, passBeforeHooks } from './before-execution.ts';
import {
  type Call,
  type CallableTool,
  type CallContext,
  type FilteredCall,
  namesOf,
} from './callable-tool.ts';
import { readCheckedArgs } from './tool-args.ts';

/** A call after its before_execution hooks, ready to be made. */
export interface PreparedCall {
  /** The result, if a hook or a required approval stopped the call. */
  readonly stopped?: CallResult | undefined;
  /** Makes the call, or returns what stopped it. Never rejects. */
  readonly finish: () => Promise<CallResult>;
}

/**
 * Prepares one tool call: input schema, before_execution filters, schema again if one changed the arguments,
 * approver hooks, the approval that the config requires. `finish` then runs the process, checks the output
 * schema, and passes the after_execution filters (for failures too, not for a pending call). Never rejects.
 */
export async function prepareCall(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<PreparedCall> {
  const before = await filterCall(tool, args, context);
  const stopped = before.stopped ?? (before.call.tool.approval && findRequiredApproval(before));
  return stopped === undefined ? { finish: () => executeCall(before) } : stoppedCall(stopped);
}

/** Prepares and makes one tool call. Never rejects. */
export async function callTool(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<CallResult> {
  const filtering = filterCall(tool, args, context);
  // Without hooks there is nothing to wait for.
  const before = filtering instanceof Promise ? await filtering : filtering;
  return (
    before.stopped ??
    (before.call.tool.approval && findRequiredApproval(before)) ??
    (await executeCall(before))
  );
}

/** The call as the hooks before it leave it; `stopped` as well when its arguments do not fit. Never rejects. */
function filterCall(
  tool: CallableTool,
  args: unknown,
  context: CallContext,
): FilteredCall | Promise<FilteredCall> {
  const call = { ...context, tool, callId: context.callId ?? nextCallId() };
  try {
    const json = readCheckedArgs(tool, args, context.isByHost);
    const unfiltered = unfilteredCall(call, json);
    return tool.links.length > 0 && hasHooksBefore(tool) ? passBeforeHooks(unfiltered) : unfiltered;
  } catch (error) {
    const stopped = resultOf(namesOf(call), failed(toFault(error)));
    return { ...unfilteredCall(call, noMetadata), stopped };
  }
}

/** A prepared call that is not made: `finish` returns this result. */
export function stoppedCall(stopped: CallResult): PreparedCall {
  return { stopped, finish: async () => stopped };
}

/** The call with these arguments, which no filter was asked about. */
export function unfilteredCall(call: Call, args: Json): FilteredCall {
  return { call, asked: args, args, metadata: noMetadata, context: noContext };
}

const noContext: readonly string[] = [];

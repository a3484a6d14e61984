import { randomUUID } from 'node:crypto';
import { failed } from '../contract/tool.ts';
import { toFault } from '../errors.ts';
import { type CallResult, noMetadata, resultOf } from '../hooks/call-result.ts';
import type { Json } from '../json/json.ts';
import { executeCall } from './after-execution.ts';
import { findRequiredApproval, passBeforeHooks } from './before-execution.ts';
import type { CallableTool, CallContext, FilteredCall } from './callable-tool.ts';
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
  const callId = context.callId ?? `call_${randomUUID()}`;
  const call = { ...context, tool, callId };
  let json: Json;
  try {
    json = readCheckedArgs(tool, args, context.isByHost);
  } catch (error) {
    return stoppedCall(resultOf({ tool: tool.name, callId }, failed(toFault(error))));
  }
  const unfiltered = { call, asked: json, args: json, metadata: noMetadata, context: [] };
  const before: FilteredCall = tool.links.length === 0 ? unfiltered : await passBeforeHooks(call, json);
  const stopped = before.stopped ?? (before.call.tool.approval && findRequiredApproval(before));
  return stopped === undefined ? { finish: async () => await executeCall(before) } : stoppedCall(stopped);
}

/** Prepares and makes one tool call. Never rejects. */
export async function callTool(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<CallResult> {
  const { finish } = await prepareCall(tool, args, context);
  return await finish();
}

/** A prepared call that is not made: `finish` returns this result. */
export function stoppedCall(stopped: CallResult): PreparedCall {
  return { stopped, finish: async () => stopped };
}

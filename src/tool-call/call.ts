import { randomUUID } from 'node:crypto';
import { failed } from '../contract/tool.ts';
import { toFault } from '../errors.ts';
import { type CallResult, settled } from '../hooks/call-result.ts';
import type { Json } from '../json/json.ts';
import { execute } from './after.ts';
import { askConsent, passBefore } from './before.ts';
import { type CallableTool, type CallContext, namesOf, readCheckedArgs } from './callable.ts';

/** A call whose hooks have been asked. */
export interface Judged {
  /** What it came to where it goes no further. */
  readonly stopped?: CallResult | undefined;
  /** Makes the call, or gives what stopped it. Never rejects. */
  readonly finish: () => Promise<CallResult>;
}

/**
 * One tool call up to the point where it is made: schema, before_execution filters, schema again if one changed the
 * arguments, the hooks that must approve. What follows are the consent that the config requires, process, output
 * schema, and after_execution filters (for failures too, not for a call that waits for a person). Never rejects.
 */
export async function judgeCall(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<Judged> {
  const call = { ...context, tool, callId: context.callId ?? `call_${randomUUID()}` };
  let json: Json;
  try {
    json = readCheckedArgs(tool, args, context.isByHost);
  } catch (error) {
    return stoppedAt(settled(namesOf(call), failed(toFault(error))));
  }
  const before = await passBefore(call, json);
  const stopped = before.stopped ?? askConsent(before);
  return stopped === undefined ? { finish: async () => await execute(before) } : stoppedAt(stopped);
}

/** One tool call, judged and made. Never rejects. */
export async function callTool(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<CallResult> {
  const { finish } = await judgeCall(tool, args, context);
  return await finish();
}

/** A call that goes no further. */
export function stoppedAt(stopped: CallResult): Judged {
  return { stopped, finish: async () => stopped };
}

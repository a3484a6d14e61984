import { randomUUID } from 'node:crypto';
import { failed } from '../contract/tool.ts';
import { toFault } from '../errors.ts';
import type { Json } from '../json.ts';
import { execute } from './call-after.ts';
import { askConsent, passBefore, tellPause } from './call-before.ts';
import { type CallResult, settled } from './call-result.ts';
import { type CallableTool, type CallContext, namesOf, readCheckedArgs } from './callable.ts';

/**
 * One tool call: schema, before_execution filters, schema again if one changed the arguments, the hooks that must
 * approve, the consent that the config requires, process, output schema, after_execution filters (for failures too,
 * not for a call that waits for a person). Never rejects.
 */
export async function callTool(
  tool: CallableTool,
  args: unknown,
  context: CallContext = {},
): Promise<CallResult> {
  const call = { ...context, tool, callId: context.callId ?? `call_${randomUUID()}` };
  let json: Json;
  try {
    json = readCheckedArgs(tool, args, context.isByHost);
  } catch (error) {
    return settled(namesOf(call), failed(toFault(error)));
  }
  const before = await passBefore(call, json);
  return tellPause(before, before.stopped ?? askConsent(before) ?? (await execute(before)));
}

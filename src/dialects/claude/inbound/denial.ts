import type { InboundReply, Told } from '../../../inbound/inbound.ts';
import { asText } from '../../../json/as-text.ts';
import { isObject } from '../../../json/json.ts';

/** Says no where the event can be stopped; where it cannot, the reason is told and nothing else happens. */
export function denial(name: string, told: Told, reason: string): InboundReply {
  switch (name) {
    case 'PreToolUse':
      // Versions before August 2026 read JSON on exit 0 only; exit 2 with the reason on stderr blocks in all of them.
      return {
        exitCode: 2,
        document: output(name, { permissionDecision: 'deny', permissionDecisionReason: reason }),
        stderr: reason,
      };
    case 'UserPromptSubmit':
      return { exitCode: 2, document: { decision: 'block', reason }, stderr: reason };
    case 'PostToolUse':
      // Exit 2 would leave the result to the model in those versions, and put the reason beside it.
      return {
        exitCode: 0,
        document: { decision: 'block', reason, ...replaced(name, told, withheld(told, reason)) },
        stderr: '',
      };
    case 'PostToolUseFailure':
      return { exitCode: 0, document: { decision: 'block', reason }, stderr: '' };
    case 'Stop':
    case 'SubagentStop':
      // Asked once for another answer; a second time would go on for ever.
      if (told['stop_hook_active'] === true) return { exitCode: 1, stderr: reason };
      return { exitCode: 0, document: { decision: 'block', reason }, stderr: '' };
    default:
      return { exitCode: 1, stderr: reason };
  }
}

export function output(name: string, fields: Readonly<Record<string, unknown>>) {
  return { hookSpecificOutput: { hookEventName: name, ...fields } };
}

/** A result in the place of the tool's own. */
export function replaced(name: string, told: Told, result: unknown) {
  const isMcp = asText(told['tool_name']).startsWith('mcp__');
  return output(name, { updatedToolOutput: result, ...(isMcp && { updatedMCPToolOutput: result }) });
}

/** The result with none of its texts and numbers, in the form that it had: another one would be ignored, and the result stay. */
function withheld(told: Told, reason: string): unknown {
  return emptied(told['tool_response'], `[withheld: ${reason}]`);
}

function emptied(value: unknown, text: string): unknown {
  if (Array.isArray(value)) return value.map((item) => emptied(item, text));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, key === 'type' ? item : emptied(item, text)]),
    );
  if (typeof value === 'number') return 0;
  return typeof value === 'string' ? text : (value ?? null);
}

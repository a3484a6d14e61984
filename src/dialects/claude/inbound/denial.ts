import type { InboundReply, Told } from '../../../inbound/inbound.ts';
import { textAt } from '../../../inbound/native-event.ts';
import { withholdResult } from './withheld.ts';

/** Denies where the event can be stopped. Elsewhere only the reason is given, on stderr. */
export function denial(name: string, told: Told, reason: string): InboundReply {
  switch (name) {
    case 'PreToolUse':
    case 'PreSkillShellCommand':
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
      return { exitCode: 0, document: withheldResult(told, reason), stderr: '' };
    case 'PostToolUseFailure':
      // The error cannot be replaced. PostToolBatch, which comes next, ends the turn before the model reads it.
      return { exitCode: 0, document: { decision: 'block', reason }, stderr: '' };
    case 'PostToolBatch':
      return { exitCode: 0, document: { decision: 'block', reason, stopReason: reason }, stderr: '' };
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
  const isMcp = textAt(told, 'tool_name').startsWith('mcp__');
  return output(name, { updatedToolOutput: result, ...(isMcp && { updatedMCPToolOutput: result }) });
}

/** The text in the place of each text of a result that is withheld. */
export function withheldText(reason: string): string {
  return `[withheld: ${reason}]`;
}

function withheldResult(told: Told, reason: string) {
  const text = withheldText(reason);
  const given = withholdResult(textAt(told, 'tool_name'), told['tool_response'], text);
  if (given !== undefined)
    return { decision: 'block', reason, ...replaced('PostToolUse', told, given.result) };
  // Nobody knows which form Claude Code would take, and of a wrong one the original stays: the turn ends here.
  return {
    decision: 'block',
    reason,
    continue: false,
    stopReason: reason,
    ...replaced('PostToolUse', told, text),
  };
}

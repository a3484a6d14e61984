import type { DecisionDocument } from '../../../contract/document.ts';
import type { InboundReply } from '../../../inbound/inbound.ts';
import { changedText, reasonOf } from '../../../inbound/reason.ts';

/** The decision of native hooks, in the words of an event of Agentao. */
export function toReply(name: string, decision: DecisionDocument): InboundReply {
  const { verdict, context } = decision;
  const reason = reasonOf(decision);
  if (verdict === 'allow')
    return document(context.length > 0 && takesContext.has(name) ? { additionalContext: context } : {});
  if (verdict === 'modify') return denial(name, `${reason}. ${cannotChange(name, decision)}`);
  if (verdict === 'ask' && name === 'PreToolUse') return document(permission('ask', reason));
  return denial(name, reason);
}

/** Contexts of other events are thrown away there, or stand in the answer itself. */
const takesContext = new Set(['UserPromptSubmit', 'PreToolUse']);

/**
 * Says no where Agentao heeds it. Always with exit code 0: from another one Agentao concludes that the hook has failed, and goes
 * on; and 2 would make it ask the model anew behind a Stop.
 */
export function denial(name: string, reason: string): InboundReply {
  if (name === 'PreToolUse') return document({ ...permission('deny', reason), blockingError: reason });
  return document({ blockingError: reason });
}

function permission(permissionDecision: 'ask' | 'deny', permissionDecisionReason: string) {
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
  };
}

function document(fields: Readonly<Record<string, unknown>>): InboundReply {
  return { exitCode: 0, document: Object.keys(fields).length === 0 ? undefined : fields, stderr: '' };
}

/** Agentao takes no changed text, call or result; what they would have been is told, where it is a text. */
function cannotChange(name: string, decision: DecisionDocument): string {
  const text = changedText(decision);
  if (name === 'UserPromptSubmit' && text !== undefined) return `Send this in its place: ${text}`;
  return 'Agentao cannot change it.';
}

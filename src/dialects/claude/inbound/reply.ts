import type { DecisionDocument } from '../../../contract/document.ts';
import type { InboundReply, Told } from '../../../inbound/inbound.ts';
import { contentOf } from '../../../inbound/native-event.ts';
import { changedText, reasonOf } from '../../../inbound/reason.ts';
import { isObject } from '../../../json/json.ts';
import { tryParseLossless } from '../../../json/try-parse.ts';
import { denial, output, replaced } from './denial.ts';

/** The decision of native hooks, in the words of an event of Claude Code. */
export function toReply(name: string, told: Told, decision: DecisionDocument): InboundReply {
  const { verdict } = decision;
  const reason = reasonOf(decision);
  if (verdict === 'allow') return withContext(name, decision, {});
  if (verdict === 'modify') return modified(name, told, decision);
  if (verdict === 'ask' && name === 'PreToolUse')
    return withContext(name, decision, { permissionDecision: 'ask', permissionDecisionReason: reason });
  const denied = denial(name, told, reason);
  if (verdict !== 'abort') return denied;
  return { ...denied, document: { ...denied.document, continue: false, stopReason: reason } };
}

/** Without a decision of its own: what asks a person anyhow still does. */
function withContext(
  name: string,
  { context }: DecisionDocument,
  fields: Readonly<Record<string, unknown>>,
): InboundReply {
  const all = {
    ...fields,
    ...(context.length > 0 && takesContext.has(name) && { additionalContext: context.join('\n\n') }),
  };
  const isEmpty = Object.keys(all).length === 0;
  return { exitCode: 0, document: isEmpty ? undefined : output(name, all), stderr: '' };
}

const takesContext = new Set([
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
  'SessionStart',
]);

function modified(name: string, told: Told, decision: DecisionDocument): InboundReply {
  const { replace } = decision;
  if (name === 'PreToolUse' && isObject(replace?.['args'])) {
    const reason = decision.reason === '' ? `"${decision.hook}" has changed the call` : reasonOf(decision);
    // A changed call needs a decision to count; `allow` would spare the user the question that the call may need.
    const asked = { permissionDecision: 'ask', permissionDecisionReason: reason };
    return withContext(name, decision, { ...asked, updatedInput: replace['args'] });
  }
  const content = replace?.['content'];
  if (name === 'PostToolUse' && typeof content === 'string') return withResult(name, told, decision, content);
  return denial(name, told, `${reasonOf(decision)}. ${cannotChange(name, decision)}`);
}

function withResult(name: string, told: Told, decision: DecisionDocument, content: string): InboundReply {
  const before = told['tool_response'];
  if (content === contentOf(before)) return withContext(name, decision, {});
  const result = typeof before === 'string' ? content : tryParseLossless(content);
  if (!isAlike(before, result))
    return denial(name, told, `${reasonOf(decision)}, and what it left has another form than the result`);
  return { exitCode: 0, document: replaced(name, told, result), stderr: '' };
}

function isAlike(one: unknown, other: unknown): boolean {
  return (
    typeof one === typeof other &&
    Array.isArray(one) === Array.isArray(other) &&
    isObject(one) === isObject(other)
  );
}

/** A prompt and an answer cannot be written anew; what they would have been is told, where it is a text. */
function cannotChange(name: string, decision: DecisionDocument): string {
  const text = changedText(decision);
  const what = name === 'UserPromptSubmit' ? 'Send this in its place' : 'It would have been';
  return text === undefined ? 'It cannot be changed here.' : `${what}: ${text}`;
}

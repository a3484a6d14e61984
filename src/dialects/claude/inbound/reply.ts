import type { DecisionDocument } from '../../../contract/document.ts';
import type { InboundEvent, InboundReply, Told } from '../../../inbound/inbound.ts';
import { contentOf, textAt } from '../../../inbound/native-event.ts';
import { changedText, reasonOf } from '../../../inbound/reason.ts';
import { isObject } from '../../../json/json.ts';
import { tryParseLossless } from '../../../json/try-parse.ts';
import { denial, output, replaced, withheldText } from './denial.ts';
import { fitsResultType } from './withheld.ts';

/** The decision of native hooks, in the words of an event of Claude Code. */
export function toReply(name: string, told: Told, decision: DecisionDocument): InboundReply {
  const { verdict } = decision;
  const reason = reasonOf(decision);
  if (verdict === 'allow') return withContext(name, decision, {});
  if (verdict === 'modify') return modified(name, told, decision);
  if (verdict === 'ask' && (name === 'PreToolUse' || name === 'PreSkillShellCommand'))
    return withContext(name, decision, { permissionDecision: 'ask', permissionDecisionReason: reason });
  const denied = denial(name, told, reason);
  if (verdict !== 'abort') return denied;
  return { ...denied, document: { ...denied.document, continue: false, stopReason: reason } };
}

/**
 * The decision about a result in the words that the model is about to read. What the hooks stop or change here was not withheld
 * before: the call has failed, or Claude Code has dropped the form that it was given. So the turn ends.
 */
export function toBatchReply(decision: DecisionDocument, event: InboundEvent): InboundReply {
  const content = contentOfResult(event);
  const reason = reasonOf(decision);
  const isSame = decision.verdict === 'modify' && decision.replace?.['content'] === content;
  if (decision.verdict === 'allow' || isSame || isWithheld(content, reason))
    return { exitCode: 0, stderr: '' };
  const why = decision.verdict === 'modify' ? `${reason}. It cannot be changed here.` : reason;
  return denial('PostToolBatch', {}, why);
}

function contentOfResult({ response }: InboundEvent): string {
  const content = isObject(response) ? response['content'] : undefined;
  return typeof content === 'string' ? content : '';
}

/** Whether nothing is left of a result but the text in its place, numbers of lines and zeros. */
function isWithheld(content: string, reason: string): boolean {
  const text = withheldText(reason);
  const rest = content.replaceAll(text, '').replaceAll(/^\s*\d+(?=[\t→])/gm, '');
  return content.includes(text) && !/[\p{L}\p{N}]/u.test(rest.replaceAll('0', ''));
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
  const tool = textAt(told, 'tool_name');
  const breaksType = fitsResultType(tool, before) && !fitsResultType(tool, result);
  if (!isAlike(before, result) || breaksType)
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

import { Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { type Composed, compose, type HookAnswer } from '../compose.ts';
import type { Question } from '../foreign-dialect.ts';
import { valueAt } from '../payload-table.ts';
import { eventRules, points } from './points.ts';

/** Adjusts the composed answer: deferral, approval, forced continuation, and warnings about lost rewrites. */
export function conclude(
  { point }: Question,
  hookAnswers: readonly HookAnswer[],
  composed: Composed,
): Composed {
  const concluded = concludePoint(point, hookAnswers, composed);
  return { ...concluded, answer: withRemarks(point, hookAnswers, concluded.answer) };
}

function concludePoint(point: string, hookAnswers: readonly HookAnswer[], composed: Composed): Composed {
  switch (point) {
    case 'PreToolUse':
      return concludeTool(hookAnswers, composed);
    case 'PermissionRequest':
      return concludePermission(hookAnswers, composed);
    case 'Stop':
    case 'SubagentStop':
      return concludeStop(hookAnswers, composed);
    default:
      return composed;
  }
}

/** A deferral wins over an ask, and drops rewritten arguments. */
function concludeTool(hookAnswers: readonly HookAnswer[], composed: Composed): Composed {
  const { answer } = composed;
  const deferred = hookAnswers.find((one) => one.answer.verdict === 'ask' && isDeferred(one.answer));
  if (answer.verdict !== 'ask' || deferred === undefined) return composed;
  const { replace: _dropped, ...rest } = answer;
  return { hook: deferred.hook, answer: { ...rest, reason: deferred.answer.reason } };
}

function isDeferred({ metadata }: Answer): boolean {
  return valueAt(metadata, 'deferred') === true;
}

/** One explicit approval suffices unless another handler refuses; without any the answer is ask. */
function concludePermission(hookAnswers: readonly HookAnswer[], composed: Composed): Composed {
  const { answer } = composed;
  if (answer.verdict === 'deny' || answer.verdict === 'abort') return composed;
  const { metadata } = answer;
  const approvals = hookAnswers.filter(
    (one) => one.answer.verdict === 'allow' || one.answer.verdict === 'modify',
  );
  const [first] = approvals;
  const composition = points['PermissionRequest']?.composition;
  if (first === undefined || composition === undefined) {
    return { hook: null, answer: answers.ask('', { metadata }) };
  }
  const approved = compose(approvals, composition);
  return { hook: approved.hook ?? first.hook, answer: { ...approved.answer, metadata } };
}

/** Joins all context and follow-up texts, in file order, into one `follow_up` that continues the turn. */
function concludeStop(hookAnswers: readonly HookAnswer[], composed: Composed): Composed {
  const { verdict } = composed.answer;
  const { context: _moved, ...rest } = composed.answer;
  if (verdict !== 'allow' && verdict !== 'modify') return { ...composed, answer: rest };
  const forcing = hookAnswers.filter(({ answer }) => textsOf(answer).length > 0);
  const hook = forcing.at(-1)?.hook;
  if (hook === undefined) return composed;
  const follow_up = forcing.flatMap(({ answer }) => textsOf(answer)).join('\n\n');
  const { reason, metadata } = rest;
  return { hook, answer: answers.modify({ follow_up }, { reason, metadata }) };
}

function textsOf(answer: Answer): readonly string[] {
  const forced = answer.verdict === 'modify' ? valueAt(answer.replace, 'follow_up') : undefined;
  return [...(typeof forced === 'string' ? [forced] : []), ...(answer.context ?? [])];
}

/** Joins the system messages of all handlers, and adds warnings for rewrites that another one replaced. */
function withRemarks(point: string, hookAnswers: readonly HookAnswer[], answer: Answer): Answer {
  const texts = hookAnswers.map((one) => valueAt(one.answer.metadata, 'system_message'));
  const messages = texts.filter((text) => typeof text === 'string');
  const warnings = [...new Set([...hookAnswers.flatMap(warningsOf), ...lostRewrites(point, hookAnswers)])];
  if (messages.length < 2 && warnings.length === 0) return answer;
  const metadata = Json.from({
    ...membersOf(answer.metadata),
    ...(messages.length > 0 && { system_message: messages.join('\n') }),
    ...(warnings.length > 0 && { warnings }),
  });
  return { ...answer, metadata };
}

function warningsOf({ answer }: HookAnswer): readonly string[] {
  const warnings = valueAt(answer.metadata, 'warnings');
  return Array.isArray(warnings) ? warnings.map(String) : [];
}

function lostRewrites(point: string, hookAnswers: readonly HookAnswer[]): string[] {
  const key = eventRules[point]?.replaces === undefined ? 'args' : 'content';
  const rewriters = hookAnswers.filter(({ answer }) => {
    const isRewrite = answer.verdict === 'modify' || answer.verdict === 'ask';
    return isRewrite && answer.replace !== undefined && valueAt(answer.replace, key) !== undefined;
  });
  if (rewriters.length < 2) return [];
  const what = key === 'args' ? 'arguments' : 'result';
  return [`several hooks replaced the ${what}; "${rewriters.at(-1)?.hook}" stands last in the file and wins`];
}

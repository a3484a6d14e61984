import { type Answer, answers } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import { type Composed, compose, type Spoken } from '../compose.ts';
import type { Question } from '../foreign.ts';
import { eventRules, points } from './points.ts';
import { valueAt } from './tree.ts';

/** What no composition by member can do: who defers, who approves, how a turn goes on, what is told of several. */
export function conclude({ point }: Question, spoken: readonly Spoken[], composed: Composed): Composed {
  const concluded = concludePoint(point, spoken, composed);
  return { ...concluded, answer: withRemarks(point, spoken, concluded.answer) };
}

function concludePoint(point: string, spoken: readonly Spoken[], composed: Composed): Composed {
  switch (point) {
    case 'PreToolUse':
      return concludeTool(spoken, composed);
    case 'PermissionRequest':
      return concludePermission(spoken, composed);
    case 'Stop':
    case 'SubagentStop':
      return concludeStop(spoken, composed);
    default:
      return composed;
  }
}

/** To defer is stricter than to ask, and takes no rewritten arguments. */
function concludeTool(spoken: readonly Spoken[], composed: Composed): Composed {
  const { answer } = composed;
  const deferred = spoken.find((one) => one.answer.verdict === 'ask' && isDeferred(one.answer));
  if (answer.verdict !== 'ask' || deferred === undefined) return composed;
  const { replace: _dropped, ...rest } = answer;
  return { hook: deferred.hook, answer: { ...rest, reason: deferred.answer.reason } };
}

function isDeferred({ metadata }: Answer): boolean {
  return valueAt(metadata, 'deferred') === true;
}

/** One approval in so many words suffices, unless another handler refuses; without any the person is asked. */
function concludePermission(spoken: readonly Spoken[], composed: Composed): Composed {
  const { answer } = composed;
  if (answer.verdict === 'deny' || answer.verdict === 'abort') return composed;
  const { metadata } = answer;
  const approvals = spoken.filter((one) => one.answer.verdict === 'allow' || one.answer.verdict === 'modify');
  const [first] = approvals;
  const composition = points['PermissionRequest']?.composition;
  if (first === undefined || composition === undefined) {
    return { hook: null, answer: answers.ask('', { metadata }) };
  }
  const approved = compose(approvals, composition);
  return { hook: approved.hook ?? first.hook, answer: { ...approved.answer, metadata } };
}

/** Every text for the model makes the turn go on, in the order of the file. */
function concludeStop(spoken: readonly Spoken[], composed: Composed): Composed {
  const { verdict } = composed.answer;
  const { context: _moved, ...rest } = composed.answer;
  if (verdict !== 'allow' && verdict !== 'modify') return { ...composed, answer: rest };
  const forcing = spoken.filter(({ answer }) => textsOf(answer).length > 0);
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

/** Messages of several handlers stand below one another; rewrites that got lost are warned of. */
function withRemarks(point: string, spoken: readonly Spoken[], answer: Answer): Answer {
  const texts = spoken.map((one) => valueAt(one.answer.metadata, 'system_message'));
  const messages = texts.filter((text) => typeof text === 'string');
  const warnings = [...new Set([...spoken.flatMap(warningsOf), ...lostRewrites(point, spoken)])];
  if (messages.length < 2 && warnings.length === 0) return answer;
  const metadata = Json.from({
    ...partsOf(answer.metadata),
    ...(messages.length > 0 && { system_message: messages.join('\n') }),
    ...(warnings.length > 0 && { warnings }),
  });
  return { ...answer, metadata };
}

function warningsOf({ answer }: Spoken): readonly string[] {
  const warnings = valueAt(answer.metadata, 'warnings');
  return Array.isArray(warnings) ? warnings.map(String) : [];
}

function lostRewrites(point: string, spoken: readonly Spoken[]): string[] {
  const key = eventRules[point]?.replaces === undefined ? 'args' : 'content';
  const rewriters = spoken.filter(({ answer }) => {
    const isRewrite = answer.verdict === 'modify' || answer.verdict === 'ask';
    return isRewrite && answer.replace !== undefined && valueAt(answer.replace, key) !== undefined;
  });
  if (rewriters.length < 2) return [];
  const what = key === 'args' ? 'arguments' : 'result';
  return [`several hooks replaced the ${what}; "${rewriters.at(-1)?.hook}" stands last in the file and wins`];
}

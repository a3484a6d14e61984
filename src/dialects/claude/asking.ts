import type { ClaudeSettings } from '../../config/foreign.ts';
import { type Answer, answers, type Beside, type Verdict } from '../../contract/hook.ts';
import { RuntimeError } from '../../errors.ts';
import type { Decoded } from '../dialect.ts';
import { type FailureRule, failOpen } from '../failed-open.ts';
import type { Question, Seat } from '../foreign.ts';
import { type EventRule, eventRules, isClosable } from './points.ts';
import { valueAt } from './tree.ts';

/** A question on its way back: who was asked, about what, and what counts there. */
export interface Asking {
  readonly seat: Seat<ClaudeSettings>;
  readonly question: Question;
  readonly rule: EventRule;
}

export function toAsking(seat: Seat<ClaudeSettings>, question: Question): Asking {
  return { seat, question, rule: ruleAt(question) };
}

/** A change of policy settings cannot be blocked. */
function ruleAt({ point, payload }: Question): EventRule {
  const rule = Object.hasOwn(eventRules, point) ? eventRules[point] : undefined;
  if (rule === undefined) throw new RuntimeError('INTERNAL', `claude has no event "${point}"`);
  const isPolicy = point === 'ConfigChange' && valueAt(payload, 'source') === 'policy_settings';
  return isPolicy ? { matcher: 'source', block: 'none', ignoresContinue: true } : rule;
}

/** What silence means: no decision; a question to a person stays one. */
export function silence({ rule }: Asking, beside: Beside = {}): Answer {
  return rule.block === 'ask' ? answers.ask('', beside) : answers.allow(beside);
}

/** A failure that Claude Code calls non-blocking. */
export function letPass(
  asking: Asking,
  failure: FailureRule,
  context: readonly string[] = [],
): Decoded<Answer> {
  return failOpen(asking.seat, failure, {
    answer: silence(asking, { context }),
    isClosable: isClosable(asking.rule),
  });
}

/** A block of this event, with its message; handlers in the background block nothing. */
export function block({ seat, rule, question }: Asking, message: string, beside: Beside = {}): Answer {
  if (seat.settings.isAsync) return answers.allow(beside);
  const text = message.trim() === '' ? stockReason(seat, question) : message;
  switch (rule.block) {
    case 'deny':
      return answers.deny(text, beside);
    case 'abort':
      return answers.abort(text, 'turn', beside);
    case 'beside':
      return answers.allow({ ...beside, context: [text, ...(beside.context ?? [])] });
    case 'follow_up':
      return answers.modify({ follow_up: text }, beside);
    case 'decline':
      return answers.respond({ action: 'decline' }, { ...beside, reason: message });
    case 'ask':
      return answers.ask('', beside);
    case 'none':
      return answers.allow(beside);
  }
}

/** The same with a reason, where something is refused without one. */
export function withReason({ seat, question }: Asking, { output, notes }: Decoded<Answer>): Decoded<Answer> {
  const isRefusal = output.verdict === 'deny' || output.verdict === 'abort';
  if (!isRefusal || output.reason.trim() !== '') return { output, notes };
  return { output: { ...output, reason: stockReason(seat, question, output.verdict) }, notes };
}

function stockReason({ name }: Asking['seat'], { point }: Question, verdict: Verdict = 'deny'): string {
  const what = verdict === 'abort' ? 'ended the turn' : 'blocked';
  return `${point} hook "${name}" ${what} without a message`;
}

import { RuntimeError } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import { type Answer, type AnswerDetails, answers, type Verdict } from '../../contract/hook.ts';
import type { Decoded } from '../dialect.ts';
import { type FailureRule, failOpen } from '../failed-open.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { valueAt } from '../payload-table.ts';
import type { ClaudeSettings } from './config/settings.ts';
import { type EventRule, eventRules, isClosable } from './points.ts';

export interface HookQuestion {
  readonly entry: HookEntry<ClaudeSettings>;
  readonly question: Question;
  readonly rule: EventRule;
}

export function toHookQuestion(entry: HookEntry<ClaudeSettings>, question: Question): HookQuestion {
  return { entry, question, rule: ruleAt(question) };
}

/** A change of policy settings cannot be blocked. Throws INTERNAL for an unknown event. */
function ruleAt({ point, payload }: Question): EventRule {
  const rule = Object.hasOwn(eventRules, point) ? eventRules[point] : undefined;
  if (rule === undefined) throw new RuntimeError('INTERNAL', `claude has no event "${point}"`);
  const isPolicy = point === 'ConfigChange' && valueAt(payload, 'source') === 'policy_settings';
  return isPolicy ? { matcher: 'source', block: 'none', ignoresContinue: true } : rule;
}

export function noDecision({ rule }: HookQuestion, beside: AnswerDetails = {}): Answer {
  return rule.block === 'ask' ? answers.ask('', beside) : answers.allow(beside);
}

/** The answer for a failure that Claude Code calls non-blocking. With `on_failure: deny` it denies. */
export function letPass(
  asked: HookQuestion,
  failure: FailureRule,
  context: readonly string[] = [],
): Decoded<Answer> {
  return failOpen(asked.entry, failure, {
    answer: noDecision(asked, { context }),
    isClosable: isClosable(asked.rule),
  });
}

/** Handlers in the background block nothing. */
export function block(
  { entry, rule, question }: HookQuestion,
  message: string,
  beside: AnswerDetails = {},
): Answer {
  if (entry.settings.isAsync) return answers.allow(beside);
  const text = message.trim() === '' ? stockReason(entry, question) : message;
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

export function withReason(
  { entry, question }: HookQuestion,
  { output, notes }: Decoded<Answer>,
): Decoded<Answer> {
  const isRefusal = output.verdict === 'deny' || output.verdict === 'abort';
  if (!isRefusal || output.reason.trim() !== '') return { output, notes };
  return { output: { ...output, reason: stockReason(entry, question, output.verdict) }, notes };
}

function stockReason(
  { name }: HookQuestion['entry'],
  { point }: Question,
  verdict: Verdict = 'deny',
): string {
  const what = verdict === 'abort' ? 'ended the turn' : 'blocked';
  return `${point} hook "${name}" ${what} without a message`;
}

/**
 * Turns a forced continuation into an allow when the stop cap is reached or no round is left. A cap of 0 means no cap.
 */
export function applyStopCap(asked: HookQuestion, read: Decoded<Answer>): Decoded<Answer> {
  const { output } = read;
  if (!continuesTurn(asked, output)) return read;
  const why = whyOverridden(asked);
  if (why === undefined) return read;
  const message = `${why}, and is not continued again`;
  const metadata = Json.from({ ...membersOf(output.metadata), warnings: [message] });
  return { output: answers.allow({ metadata }), notes: [...read.notes, { level: 'warn', message }] };
}

function whyOverridden({ entry, question: { hookContext } }: HookQuestion): string | undefined {
  const { stopCap } = entry.settings;
  if (stopCap > 0 && hookContext.forcedTurns >= stopCap) {
    return `the turn was continued ${stopCap} times in a row after its answer`;
  }
  return hookContext.fuel !== null && hookContext.fuel.remaining <= 0
    ? 'the turn has no round left'
    : undefined;
}

function continuesTurn({ rule, entry }: HookQuestion, answer: Answer): boolean {
  const isStop = rule.block === 'follow_up' && rule.takesDecision === true && !entry.settings.isAsync;
  const hasText = answer.verdict === 'modify' || (answer.verdict === 'allow' && answer.context !== undefined);
  return isStop && hasText;
}

import { type Answer, type Ask, answers, type Decision } from '../../contract/hook.ts';
import type { DecidedBy, HookChain } from './hook-chain.ts';
import type { GateOptions } from './link.ts';

/** A filter's `ask` answer, and the filter. */
export interface HookAsk {
  readonly by: DecidedBy;
  readonly answer: Ask;
}

/**
 * Resolves a filter's question: by an earlier approval, by hooks that answer for the person, or it stops the
 * chain.
 */
export async function resolveQuestion(
  chain: HookChain,
  { by, answer }: HookAsk,
  options: GateOptions,
): Promise<void> {
  const hook = by.hook ?? '';
  const { event } = chain;
  if (options.isApproved?.(hook, event)) {
    chain.takeApproved(answer);
    return;
  }
  const decision = await options.onAsk?.({ hook, reason: answer.reason, event });
  const hookAnswer = decision && answerFromDecision(decision);
  if (hookAnswer === undefined) {
    chain.stop(by, answer);
  } else if (hookAnswer.verdict === 'allow' || hookAnswer.verdict === 'modify') {
    chain.takeApproved(answer);
    chain.takeAnswer(decidedByOf(decision), hookAnswer, options.check);
  } else {
    chain.stop(decidedByOf(decision), hookAnswer);
  }
}

/**
 * The answer that hooks gave for the person; undefined if they leave it to the person (an allow without a
 * hook).
 */
function answerFromDecision({
  verdict,
  hook,
  reason,
  replace,
  abort,
  metadata,
  error,
}: Decision): Exclude<Answer, Ask | { verdict: 'respond' }> | undefined {
  const beside = { metadata, ...(error && { error }) };
  switch (verdict) {
    case 'deny':
      return answers.deny(reason, beside);
    case 'abort':
      return answers.abort(reason, abort ?? 'turn', beside);
    case 'modify':
      return replace === null ? undefined : answers.modify(replace, { metadata, reason });
    case 'allow':
      return hook === null ? undefined : answers.allow({ metadata, reason });
    case 'ask':
    case 'respond':
      return undefined;
  }
}

function decidedByOf(decision: Decision | undefined): DecidedBy {
  return { hook: decision?.hook ?? null, dialect: decision?.dialect ?? '', isApproval: true };
}

import { type Answer, type Ask, answers, type Decision } from '../contract/hook.ts';
import type { By, Chain } from './chain.ts';
import type { Passage } from './link.ts';

/** What a filter asks, and which. */
export interface Question {
  readonly by: By;
  readonly answer: Ask;
}

/** A question is answered by a person's earlier word, by hooks that answer in their place, or not at all. */
export async function takeQuestion(chain: Chain, { by, answer }: Question, passage: Passage): Promise<void> {
  const hook = by.hook ?? '';
  const { event } = chain;
  if (passage.hasConsent?.(hook, event)) {
    chain.consent(answer);
    return;
  }
  const decision = await passage.onAsk?.({ hook, reason: answer.reason, event });
  const word = decision && answerIn(decision);
  if (word === undefined) {
    chain.stop(by, answer);
  } else if (word.verdict === 'allow' || word.verdict === 'modify') {
    chain.consent(answer);
    chain.take(speakerOf(decision), word, passage.check);
  } else {
    chain.stop(speakerOf(decision), word);
  }
}

/** What hooks answered in a person's place; undefined where they leave it to the person: silence is no approval. */
function answerIn({
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

function speakerOf(decision: Decision | undefined): By {
  return { hook: decision?.hook ?? null, dialect: decision?.dialect ?? '', isApproval: true };
}

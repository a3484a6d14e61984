import type { Decision, Phase } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import {
  type AfterCall,
  createFaultRefusal,
  type GuardOutcome,
  type Refusal as GuardRefusal,
  type SubstituteAnswer,
} from '../../models/guard/guard-outcome.ts';
import type { StoppedAnswer } from '../../models/guard/window-pieces.ts';
import type { Substitute, WireAnswer } from '../wire/codec.ts';
import { type Refusal, RefusedCall } from '../wire/refusal.ts';
import type { AnswerJudge } from './answer-judge.ts';

/** What becomes of a whole answer, streamed or not. */
export type AnswerVerdict =
  | { readonly kind: 'same'; readonly body: string }
  | { readonly kind: 'changed'; readonly body: string; readonly by: Decision | undefined }
  /** A text stands in its place. */
  | { readonly kind: 'stand-in'; readonly substitute: Substitute; readonly by: Decision }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/**
 * Asks about every choice of an answer, and then about its tool calls. A choice that is stopped stops the whole
 * answer, a refusal before a stand-in. Never rejects.
 */
export async function judgeAnswer(answer: WireAnswer, judge: AnswerJudge): Promise<AnswerVerdict> {
  const outcomes = await Promise.all(answer.messages.map((message) => judge.ask(message)));
  const stopped = findStopped(outcomes);
  if (stopped !== undefined) return toStop(stopped);
  const passed = outcomes.filter((outcome) => outcome.kind === 'pass');
  const messages = passed.map(({ event }) => event.response.message);
  const by = passed.find(({ decision }) => decision.verdict === 'modify')?.decision;
  return writeJudged(answer, { messages, by, judge });
}

/** What becomes of an answer that was stopped. */
export function toStop(stopped: StoppedAnswer): AnswerVerdict {
  if (stopped.kind === 'refuse') return { kind: 'refuse', refusal: denialOf(stopped, 'after_call') };
  return { kind: 'stand-in', substitute: toSubstitute(stopped.answer), by: stopped.decision };
}

/** The text that a hook gives, for a codec. */
export function toSubstitute({ text, finishReason }: SubstituteAnswer): Substitute {
  return { text, end: finishReason.unified === 'stop' ? 'stop' : 'refused' };
}

function findStopped(outcomes: readonly GuardOutcome<AfterCall>[]): StoppedAnswer | undefined {
  const stopped = outcomes.filter((outcome) => outcome.kind !== 'pass');
  return stopped.find(({ kind }) => kind === 'refuse') ?? stopped[0];
}

interface Judged {
  readonly messages: readonly ChatMessage[];
  /** Who changed them. */
  readonly by: Decision | undefined;
  readonly judge: AnswerJudge;
}

async function writeJudged(
  answer: WireAnswer,
  { messages, by, judge: { judgeCalls } }: Judged,
): Promise<AnswerVerdict> {
  try {
    const judged = (await judgeCalls?.(answer, messages)) ?? messages;
    if (judged.every((message, index) => message === answer.messages[index]))
      return { kind: 'same', body: answer.body };
    const body = answer.write(judged);
    return body === answer.body ? { kind: 'same', body } : { kind: 'changed', body, by };
  } catch (error) {
    if (error instanceof RefusedCall) return { kind: 'refuse', refusal: error.refusal };
    return { kind: 'refuse', refusal: denialOf(createFaultRefusal('after_call', error, by), 'after_call') };
  }
}

/**
 * What a client is told when hooks let something not pass: 400 `content_filter` for a denial, 503 `guard_failed` when a
 * hook failed or could not be asked. It quotes nothing but the hook's own words.
 */
export function denialOf({ error, decision }: GuardRefusal, phase: Phase): Refusal {
  const { verdict, hook } = decision;
  // What no hook has decided is a fault of asking.
  const isFault = decision.error !== undefined || hook === null;
  return {
    ...(isFault ? { status: 503, code: 'guard_failed' } : { status: 400, code: 'content_filter' }),
    message: error.message,
    isRetryable: false,
    verdict: { verdict, hook, phase },
  };
}

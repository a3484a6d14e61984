import type { LanguageModelV4Content, LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { Decision } from '../../contract/hook.ts';
import { fromAnswer, type ModelAnswer, toAnswer } from '../messages/answer.ts';
import { createAfterCallEvent } from './after-call-event.ts';
import type { AdmittedCall } from './before-call.ts';
import {
  askHooks,
  createFaultRefusal,
  type Fire,
  type Refusal,
  type SubstituteAnswer,
} from './guard-outcome.ts';

/** The outcome of after_call for an answer. */
export type AnswerOutcome =
  /** The hooks left it unchanged. */
  | { readonly kind: 'same'; readonly decision: Decision }
  | {
      readonly kind: 'replaced';
      readonly decision: Decision;
      readonly content: LanguageModelV4Content[];
      readonly finishReason: LanguageModelV4FinishReason;
    }
  | { readonly kind: 'answer'; readonly decision: Decision; readonly answer: SubstituteAnswer }
  | Refusal;

export interface AfterCallOptions {
  readonly fire: Fire;
  readonly admitted: Pick<AdmittedCall, 'request'>;
  readonly latencyMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Runs the after_call hooks over a whole answer. Never rejects: a fault is a refusal. */
export async function runAfterCall(answer: ModelAnswer, options: AfterCallOptions): Promise<AnswerOutcome> {
  try {
    const { fire, admitted, latencyMs, signal } = options;
    const message = fromAnswer(answer);
    const event = createAfterCallEvent({ request: admitted.request, message, latencyMs });
    const outcome = await askHooks(fire, event, { signal });
    if (outcome.kind !== 'pass') return outcome;
    const { decision } = outcome;
    const filtered = outcome.event.response.message;
    if (filtered === message) return { kind: 'same', decision };
    return replaceAnswer(answer, { message, filtered, decision });
  } catch (error) {
    return createFaultRefusal('after_call', error);
  }
}

interface Replacement {
  readonly message: ReturnType<typeof fromAnswer>;
  readonly filtered: ReturnType<typeof fromAnswer>;
  readonly decision: Decision;
}

function replaceAnswer(answer: ModelAnswer, { message, filtered, decision }: Replacement): AnswerOutcome {
  try {
    return { kind: 'replaced', decision, ...toAnswer(filtered, { ...answer, message }) };
  } catch (error) {
    return createFaultRefusal('after_call', error, decision);
  }
}

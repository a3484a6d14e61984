import type { LanguageModelV4Content, LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { Decision } from '../../contract/hook.ts';
import { fromAnswer, type ModelAnswer, toAnswer } from '../messages/answer.ts';
import { type Admitted, answerEvent } from './call.ts';
import { askHooks, type Fire, type Refusal, refuseFault, type StandIn } from './verdict.ts';

/** What became of an answer behind its hooks. */
export type Judgement =
  /** It is as the model gave it. */
  | { readonly kind: 'same'; readonly decision: Decision }
  | {
      readonly kind: 'replaced';
      readonly decision: Decision;
      readonly content: LanguageModelV4Content[];
      readonly finishReason: LanguageModelV4FinishReason;
    }
  | { readonly kind: 'answer'; readonly decision: Decision; readonly answer: StandIn }
  | Refusal;

export interface Judging {
  readonly fire: Fire;
  readonly admitted: Pick<Admitted, 'request'>;
  readonly latencyMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Takes a whole answer through after_call. Never rejects. */
export async function judgeAnswer(answer: ModelAnswer, judging: Judging): Promise<Judgement> {
  try {
    const { fire, admitted, latencyMs, signal } = judging;
    const message = fromAnswer(answer);
    const event = answerEvent({ request: admitted.request, message, latencyMs });
    const ruling = await askHooks(fire, event, { signal });
    if (ruling.kind !== 'pass') return ruling;
    const { decision } = ruling;
    const left = ruling.event.response.message;
    if (left === message) return { kind: 'same', decision };
    return replace(answer, { message, left, decision });
  } catch (error) {
    return refuseFault('after_call', error);
  }
}

interface Replacement {
  readonly message: ReturnType<typeof fromAnswer>;
  readonly left: ReturnType<typeof fromAnswer>;
  readonly decision: Decision;
}

function replace(answer: ModelAnswer, { message, left, decision }: Replacement): Judgement {
  try {
    return { kind: 'replaced', decision, ...toAnswer(left, { ...answer, message }) };
  } catch (error) {
    return refuseFault('after_call', error, decision);
  }
}

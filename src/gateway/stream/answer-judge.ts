import type { Decision } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { createAfterCallEvent, createPieceEvent } from '../../models/guard/after-call-event.ts';
import { type AfterCall, askHooks, type Fire, type GuardOutcome } from '../../models/guard/guard-outcome.ts';
import type { WireAnswer } from '../wire/codec.ts';

/** Asks those who decide on an answer. */
export interface AnswerJudge {
  /** Asks the after_call hooks about the message of a choice, until the signal aborts. Never rejects. */
  ask(message: ChatMessage, signal?: AbortSignal): Promise<GuardOutcome<AfterCall>>;
  /** Asks the filters alone, about a piece of a message; `window` counts the pieces, from 1. Never rejects. */
  askAboutPiece(message: ChatMessage, window: number, signal?: AbortSignal): Promise<GuardOutcome<AfterCall>>;
  /** Judges the tool calls of an answer: its messages with what is changed. Throws RefusedCall. */
  readonly judgeCalls?:
    | ((answer: WireAnswer, messages: readonly ChatMessage[]) => Promise<readonly ChatMessage[]>)
    | undefined;
}

export interface AnswerJudgeOptions {
  readonly fire: Fire;
  /** As the before_call filters left it. */
  readonly request: ProviderRequest;
  /** Milliseconds since the upstream was called. */
  readonly latencyMs: () => number;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Told of the decision on each whole message, and of those that stop a piece. */
  readonly onDecision?: ((decision: Decision) => void) | undefined;
  readonly judgeCalls?: AnswerJudge['judgeCalls'];
}

/** A judge that asks the hooks of a runtime. */
export function createAnswerJudge(options: AnswerJudgeOptions): AnswerJudge {
  const { fire, request, latencyMs, signal: ofClient, onDecision, judgeCalls } = options;
  const input = (message: ChatMessage) => ({ request, message, latencyMs: latencyMs() });
  return {
    ask: async (message, signal = ofClient) => {
      const outcome = await askHooks(fire, createAfterCallEvent(input(message)), { signal });
      onDecision?.(outcome.decision);
      return outcome;
    },
    askAboutPiece: async (message, window, signal = ofClient) => {
      const event = createPieceEvent(input(message), window);
      const outcome = await askHooks(fire, event, { signal, filtersOnly: true });
      if (outcome.kind !== 'pass') onDecision?.(outcome.decision);
      return outcome;
    },
    judgeCalls,
  };
}

import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import type { AfterCall } from './guard-outcome.ts';

export interface AnswerEventInput {
  readonly request: ProviderRequest;
  readonly message: ChatMessage;
  readonly latencyMs: number;
}

/** The after_call event of an answer, or of a part of one. */
export function createAfterCallEvent({ request, message, latencyMs }: AnswerEventInput): AfterCall {
  const { provider_id, model, round } = request;
  const response = { provider_id, model, message, round, latency_ms: latencyMs };
  return { hook: 'provider', phase: 'after_call', request, response };
}

/** The after_call event of a piece of an answer; `signalbox_window` counts the pieces, from 1. */
export function createPieceEvent(input: AnswerEventInput, window: number): AfterCall {
  const metadata = { ...input.request.metadata, signalbox_window: window };
  return createAfterCallEvent({ ...input, request: { ...input.request, metadata } });
}

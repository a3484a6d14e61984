import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { type AnswerOutcome, runAfterCall } from './after-call.ts';
import type { AdmittedCall } from './before-call.ts';
import {
  type Decisions,
  reportDecisions,
  tokenCounts,
  unknownUsage,
  withReport,
  withTextlessReport,
} from './decision-report.ts';
import { denialFinishReason, type Fire } from './guard-outcome.ts';
import { finishPart, type StreamEnd, streamText } from './output-stream.ts';
import type { StreamCollector } from './stream-collector.ts';
import type { Upstream } from './upstream.ts';
import type { StoppedAnswer } from './window-pieces.ts';
import { withoutAnswerText } from './withheld-error.ts';

type Part = LanguageModelV4StreamPart;

/** A streamed answer that passes the guard. */
export interface GuardedStream {
  readonly fire: Fire;
  readonly admitted: AdmittedCall;
  readonly upstream: Upstream;
  /** Aborted when the caller aborts or the consumer cancels the stream. */
  readonly signal: AbortSignal;
  /** Since the model was called. */
  readonly latencyMs: () => number;
  /** Called when the answer is released unchanged. */
  readonly onSame: () => void;
}

/** Runs the after_call hooks over the collected answer. */
export async function runAfterCallOnCollected(
  { fire, admitted, signal, latencyMs }: GuardedStream,
  collector: StreamCollector,
  { finishReason, usage }: StreamEnd,
): Promise<AnswerOutcome> {
  const answer = { content: collector.content(), finishReason, usage };
  return runAfterCall(answer, { fire, admitted, signal, latencyMs: latencyMs() });
}

interface ReleasedAnswer {
  readonly parts: readonly Part[];
  readonly end: StreamEnd;
  readonly decisions: Decisions;
}

/** The remaining parts of a released answer, and its finish part. */
export function endReleased(
  { onSame }: GuardedStream,
  outcome: Exclude<AnswerOutcome, StoppedAnswer>,
  { parts, end, decisions }: ReleasedAnswer,
): Part[] {
  if (outcome.kind === 'same') {
    onSame();
    return [...parts, finishPart({ ...end, providerMetadata: withReport(end.providerMetadata, decisions) })];
  }
  const { finishReason } = outcome;
  const providerMetadata = withTextlessReport(end.providerMetadata, decisions);
  return [...parts, finishPart({ finishReason, usage: tokenCounts(end.usage), providerMetadata })];
}

/** The end of a stream whose answer is withheld: the denial, or what stands in for the answer. */
export function endWithheld(
  withheld: StoppedAnswer,
  decisions: Decisions,
  usage: StreamEnd['usage'],
): Part[] {
  const end = { usage: tokenCounts(usage), providerMetadata: reportDecisions(decisions) };
  if (withheld.kind === 'answer') {
    const { text, finishReason } = withheld.answer;
    return [...streamText(text), finishPart({ ...end, finishReason })];
  }
  const { error, decision } = withheld;
  return [{ type: 'error', error }, finishPart({ ...end, finishReason: denialFinishReason(decision) })];
}

/**
 * The error and finish parts of a stream that failed; held parts are dropped. Throws when the caller aborted.
 */
export function endFailed({ upstream, admitted, signal }: GuardedStream, error: unknown): Part[] {
  upstream.abandon(error);
  signal.throwIfAborted();
  return [
    { type: 'error', error: withoutAnswerText(error) },
    finishPart({
      finishReason: { unified: 'error', raw: undefined },
      usage: unknownUsage,
      providerMetadata: reportDecisions({ before: admitted.decision }),
    }),
  ];
}

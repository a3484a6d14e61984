import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Decision } from '../../contract/hook.ts';
import { type Judgement, judgeAnswer } from './answer.ts';
import type { Admitted } from './call.ts';
import type { StreamCollector } from './collect.ts';
import { withoutAnswer } from './error.ts';
import { type End, finishPart, streamText } from './output.ts';
import { bareUsage, type Decisions, reportDecisions, unknownUsage, withKnown, withReport } from './report.ts';
import type { Upstream } from './upstream.ts';
import { deniedBy, type Fire, type Refusal, type StandIn } from './verdict.ts';

type Part = LanguageModelV4StreamPart;

/** A streamed answer on its way from the model to its reader. */
export interface Passage {
  readonly fire: Fire;
  readonly admitted: Admitted;
  readonly upstream: Upstream;
  /** Ends when the caller gives up or the reader goes away. */
  readonly signal: AbortSignal;
  /** Since the model was called. */
  readonly latencyMs: () => number;
  /** Told when the answer passes as the model gave it. */
  readonly onSame: () => void;
}

/** Takes what has been collected through after_call. */
export async function judgeCollected(
  { fire, admitted, signal, latencyMs }: Passage,
  collector: StreamCollector,
  { finishReason, usage }: End,
): Promise<Judgement> {
  const answer = { content: collector.content(), finishReason, usage };
  return judgeAnswer(answer, { fire, admitted, signal, latencyMs: latencyMs() });
}

/** What keeps an answer from its reader. */
export type Withheld =
  | Refusal
  | { readonly kind: 'answer'; readonly decision: Decision; readonly answer: StandIn };

interface Released {
  readonly parts: readonly Part[];
  readonly end: End;
  readonly decisions: Decisions;
}

/** The rest of an answer that may go out, and the end of its stream. */
export function endReleased(
  { onSame }: Passage,
  judgement: Exclude<Judgement, Withheld>,
  { parts, end, decisions }: Released,
): Part[] {
  if (judgement.kind === 'same') {
    onSame();
    return [...parts, finishPart({ ...end, providerMetadata: withReport(end.providerMetadata, decisions) })];
  }
  const { finishReason } = judgement;
  const providerMetadata = withKnown(end.providerMetadata, decisions);
  return [...parts, finishPart({ finishReason, usage: bareUsage(end.usage), providerMetadata })];
}

/** The end of a stream whose answer is withheld: the denial, or what stands in for the answer. */
export function endWithheld(withheld: Withheld, decisions: Decisions, usage: End['usage']): Part[] {
  const end = { usage: bareUsage(usage), providerMetadata: reportDecisions(decisions) };
  if (withheld.kind === 'answer') {
    const { text, finishReason } = withheld.answer;
    return [...streamText(text), finishPart({ ...end, finishReason })];
  }
  const { error, decision } = withheld;
  return [{ type: 'error', error }, finishPart({ ...end, finishReason: deniedBy(decision) })];
}

/** The end of a stream that broke off: nothing that was held is told. Throws when it was the caller who broke it. */
export function endFailed({ upstream, admitted, signal }: Passage, error: unknown): Part[] {
  upstream.leave(error);
  signal.throwIfAborted();
  return [
    { type: 'error', error: withoutAnswer(error) },
    finishPart({
      finishReason: { unified: 'error', raw: undefined },
      usage: unknownUsage,
      providerMetadata: reportDecisions({ before: admitted.decision }),
    }),
  ];
}

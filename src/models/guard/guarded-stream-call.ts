import type { LanguageModelV4StreamPart, LanguageModelV4StreamResult } from '@ai-sdk/provider';
import { AnswerDoor } from './answer-door.ts';
import { type AdmittedCall, type CallSettings, type ModelCall, runBeforeCall } from './before-call.ts';
import { zeroUsage } from './decision-report.ts';
import { endWithheld, type GuardedStream } from './guarded-stream.ts';
import { toStream } from './output-stream.ts';
import { passAnswer } from './pass-answer.ts';
import { createUniqueToolCallIds } from './unique-tool-call-ids.ts';
import { openUpstream } from './upstream.ts';
import { withoutAnswerText } from './withheld-error.ts';

type Part = LanguageModelV4StreamPart;

export interface StreamSettings extends CallSettings {
  /** The hold-back window; undefined: the answer is held until it is complete. */
  readonly windowChars: number | undefined;
}

/** Streams the model's answer through the hooks of both phases. Rejects with what the model throws first. */
export async function streamGuarded(
  call: ModelCall,
  settings: StreamSettings,
): Promise<LanguageModelV4StreamResult> {
  const consumerGone = new AbortController();
  const modelStop = new AbortController();
  const signal = AbortSignal.any(
    settings.signal === undefined ? [consumerGone.signal] : [settings.signal, consumerGone.signal],
  );
  const admitted = await runBeforeCall(call, { ...settings, signal });
  signal.throwIfAborted();
  if (admitted.kind !== 'admit') return { stream: toStream(streamRefusal(admitted), { cancel: () => {} }) };
  const startedAt = performance.now();
  const result = await callModel(admitted, AbortSignal.any([signal, modelStop.signal]));
  const upstream = openUpstream(result.stream, modelStop, createUniqueToolCallIds(admitted.params.prompt));
  const latencyMs = () => Math.round(performance.now() - startedAt);
  const { metadata, onSame } = holdMetadata(result);
  const guarded: GuardedStream = { fire: settings.fire, admitted, upstream, signal, latencyMs, onSame };
  const cancel = (reason: unknown): void => {
    consumerGone.abort(reason);
    upstream.abandon(reason);
  };
  return {
    ...metadata,
    stream: toStream(passAnswer(new AnswerDoor(guarded, settings.windowChars)), { cancel }),
  };
}

/**
 * The result's request and response members, empty until `onSame` is called: a body or a header may quote an
 * answer that is withheld or changed. The AI SDK reads both when the stream has ended.
 */
function holdMetadata({ request, response }: LanguageModelV4StreamResult) {
  const metadata = { request: {}, response: {} };
  const onSame = () => {
    Object.assign(metadata.request, request);
    Object.assign(metadata.response, response);
  };
  return { metadata, onSame };
}

/** The stream of a call that was refused or answered by a hook, without calling the model. */
async function* streamRefusal(
  outcome: Exclude<Awaited<ReturnType<typeof runBeforeCall>>, AdmittedCall>,
): AsyncGenerator<Part> {
  if (outcome.kind === 'answer') yield { type: 'stream-start', warnings: [] };
  yield* endWithheld(outcome, { before: outcome.decision }, zeroUsage);
}

async function callModel(
  { model, params }: AdmittedCall,
  abortSignal: AbortSignal,
): Promise<LanguageModelV4StreamResult> {
  try {
    return await model.doStream({ ...params, abortSignal });
  } catch (error) {
    throw withoutAnswerText(error);
  }
}

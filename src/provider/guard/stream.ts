import type { LanguageModelV4StreamPart, LanguageModelV4StreamResult } from '@ai-sdk/provider';
import { RuntimeError } from '../../errors.ts';
import { type Admitted, admitCall, type CallSettings, type ModelCall } from './call.ts';
import { newDistinctCalls } from './distinct-calls.ts';
import { withoutAnswer } from './error.ts';
import { holdAnswer } from './hold.ts';
import { toStream } from './output.ts';
import { endFailed, endWithheld, type Passage } from './passage.ts';
import { noUsage } from './report.ts';
import { openUpstream } from './upstream.ts';
import { windowAnswer } from './window-output.ts';

type Part = LanguageModelV4StreamPart;

export interface StreamSettings extends CallSettings {
  /** Undefined: the answer is held until it is complete. */
  readonly windowChars: number | undefined;
}

/** One streamed answer through both phases. Rejects with what the model throws before it streams. */
export async function streamGuarded(
  call: ModelCall,
  settings: StreamSettings,
): Promise<LanguageModelV4StreamResult> {
  const gone = new AbortController();
  const stop = new AbortController();
  const signal = AbortSignal.any(
    settings.signal === undefined ? [gone.signal] : [settings.signal, gone.signal],
  );
  const admitted = await admitCall(call, { ...settings, signal });
  signal.throwIfAborted();
  if (admitted.kind !== 'admit') return { stream: toStream(refused(admitted), { cancel: () => {} }) };
  const startedAt = performance.now();
  const result = await callModel(admitted, AbortSignal.any([signal, stop.signal]));
  const upstream = openUpstream(result.stream, stop, newDistinctCalls(admitted.params.prompt));
  const latencyMs = () => Math.round(performance.now() - startedAt);
  const { about, onSame } = withhold(result);
  const passage: Passage = { fire: settings.fire, admitted, upstream, signal, latencyMs, onSame };
  const cancel = (reason: unknown): void => {
    gone.abort(reason);
    upstream.leave(reason);
  };
  return { ...about, stream: toStream(guardParts(passage, settings), { cancel }) };
}

/**
 * What a result tells of request and response, which stays out until `onSame`: a body or a header may tell of an
 * answer that is withheld or changed. The AI SDK reads both when the stream has ended.
 */
function withhold({ request, response }: LanguageModelV4StreamResult) {
  const about = { request: {}, response: {} };
  const onSame = () => {
    Object.assign(about.request, request);
    Object.assign(about.response, response);
  };
  return { about, onSame };
}

/** The model was not called, and says so first. */
async function* refused(
  ruling: Exclude<Awaited<ReturnType<typeof admitCall>>, Admitted>,
): AsyncGenerator<Part> {
  if (ruling.kind === 'answer') yield { type: 'stream-start', warnings: [] };
  yield* endWithheld(ruling, { before: ruling.decision }, noUsage);
}

async function callModel(
  { model, params }: Admitted,
  abortSignal: AbortSignal,
): Promise<LanguageModelV4StreamResult> {
  try {
    return await model.doStream({ ...params, abortSignal });
  } catch (error) {
    throw withoutAnswer(error);
  }
}

/** Whatever goes wrong in the guard itself ends the stream, and tells nothing of the answer. */
async function* guardParts(passage: Passage, { windowChars }: StreamSettings): AsyncGenerator<Part> {
  try {
    yield* windowChars === undefined ? holdAnswer(passage) : windowAnswer(passage, windowChars);
  } catch {
    yield* endFailed(passage, new RuntimeError('INTERNAL', 'the guard failed, so the answer is withheld'));
  }
}

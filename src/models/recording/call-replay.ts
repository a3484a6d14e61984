import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { abortedError } from '../../base/time/deadline.ts';
import type { Redact } from '../../contract/scrub.ts';
import { createModel } from '../wrapped-model.ts';
import { describeDifference } from './call-difference.ts';
import type { CallOutcome, ModelCallRequest, RecordedCall } from './model-call.ts';
import { describeModelCall, digestCall, redactCall } from './recorded-call.ts';
import { openRecordedCalls, type RecordedCalls } from './recorded-calls.ts';

/** Recorded model calls, each of which answers once. */
export interface Recording {
  /** A model that answers from the recording what the provider of that id answered. Its calls throw REPLAY_MISS. */
  model(provider: string, modelName: string): LanguageModelV4;
}

export interface RecordingContext {
  /** The redaction that the recorder applied to calls. */
  readonly redact?: Redact | undefined;
  /** Called for each call that was not found. */
  readonly onMiss?: (() => void) | undefined;
}

/** Reads a recording. Lines that were cut off are left out. Throws FILE_UNREADABLE. */
export async function openRecording(
  file: string,
  { redact, onMiss }: RecordingContext = {},
): Promise<Recording> {
  const calls = await openRecordedCalls(file);
  const answer = async (original: ModelCallRequest): Promise<CallOutcome> => {
    const call = redact === undefined ? original : redactCall(original, redact);
    const next = await takeFirst(calls, [digestCall(call), digestCall(original)]);
    if (next !== undefined) return next.outcome;
    onMiss?.();
    throw replayMissError(
      call,
      calls.has(digestCall(call))
        ? 'its recorded answers are used up'
        : describeDifference(call, await calls.firstOf(call.provider)),
    );
  };
  return { model: (provider, modelName) => replayModel(provider, modelName, answer) };
}

/** Takes the call of the first digest that is recorded; without a redaction that is the original one. */
async function takeFirst(
  calls: RecordedCalls,
  digests: readonly string[],
): Promise<RecordedCall | undefined> {
  const digest = digests.find((each) => calls.has(each));
  return digest === undefined ? undefined : await calls.take(digest);
}

function replayModel(
  provider: string,
  model: string,
  answer: (call: ModelCallRequest) => Promise<CallOutcome>,
): LanguageModelV4 {
  const ask = async (mode: ModelCallRequest['mode'], options: LanguageModelV4CallOptions) => {
    if (options.abortSignal?.aborted) throw abortedError(provider, options.abortSignal);
    const outcome = await answer(describeModelCall({ provider, model, mode }, options));
    if (outcome.kind === 'error') throw outcome.error;
    return outcome;
  };
  const about = { provider: 'replay', modelId: model, supportedUrls: {} };
  return createModel(about, {
    doGenerate: async (options) => {
      const outcome = await ask('generate', options);
      if (outcome.kind === 'result') return outcome.result;
      throw new RuntimeError('INTERNAL', 'the recording has a stream where a result belongs');
    },
    doStream: async (options) => {
      const outcome = await ask('stream', options);
      if (outcome.kind === 'parts') return { stream: ReadableStream.from(outcome.parts) };
      throw new RuntimeError('INTERNAL', 'the recording has a result where a stream belongs');
    },
  });
}

function replayMissError({ provider, mode }: ModelCallRequest, why: string): RuntimeError {
  const what = mode === 'stream' ? 'streamed call' : 'call';
  return new RuntimeError(
    'REPLAY_MISS',
    `no recorded answer to this ${what} of provider "${provider}": ${why}`,
  );
}

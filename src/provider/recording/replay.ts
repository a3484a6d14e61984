import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { RuntimeError } from '../../errors.ts';
import { abortedError } from '../../transport/deadline.ts';
import { type Calls, openCalls } from './calls.ts';
import { describeDifference } from './difference.ts';
import {
  type Call,
  describeCall,
  digestCall,
  type Exchange,
  type Outcome,
  type Redact,
  redactCall,
} from './exchange.ts';

/** Recorded model calls, each of which answers once. */
export interface Recording {
  /** A model that answers from the recording what the provider of that id answered. Its calls throw REPLAY_MISS. */
  model(provider: string, modelName: string): LanguageModelV4;
}

export interface RecordingContext {
  /** What the recorder took out of calls. */
  readonly redact?: Redact | undefined;
  /** Told of each call that was not found. */
  readonly onMiss?: (() => void) | undefined;
}

/** Reads a recording. Lines that were cut off are left out. Throws FILE_UNREADABLE. */
export async function openRecording(
  file: string,
  { redact, onMiss }: RecordingContext = {},
): Promise<Recording> {
  const calls = await openCalls(file);
  const answer = async (asked: Call): Promise<Outcome> => {
    const call = redact === undefined ? asked : redactCall(asked, redact);
    const next = await takeAny(calls, [digestCall(call), digestCall(asked)]);
    if (next !== undefined) return next.outcome;
    onMiss?.();
    throw missed(
      call,
      calls.has(digestCall(call))
        ? 'its recorded answers are used up'
        : describeDifference(call, await calls.of(call.provider)),
    );
  };
  return { model: (provider, modelName) => replayModel(provider, modelName, answer) };
}

/** What was recorded without a redaction stands under what was asked. */
async function takeAny(calls: Calls, digests: readonly string[]): Promise<Exchange | undefined> {
  const digest = digests.find((each) => calls.has(each));
  return digest === undefined ? undefined : await calls.take(digest);
}

function replayModel(
  provider: string,
  model: string,
  answer: (call: Call) => Promise<Outcome>,
): LanguageModelV4 {
  const ask = async (mode: Call['mode'], options: LanguageModelV4CallOptions) => {
    if (options.abortSignal?.aborted) throw abortedError(provider, options.abortSignal);
    const outcome = await answer(describeCall({ provider, model, mode }, options));
    if (outcome.kind === 'error') throw outcome.error;
    return outcome;
  };
  return {
    specificationVersion: 'v4',
    provider: 'replay',
    modelId: model,
    supportedUrls: {},
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
  };
}

function missed({ provider, mode }: Call, why: string): RuntimeError {
  const what = mode === 'stream' ? 'streamed call' : 'call';
  return new RuntimeError(
    'REPLAY_MISS',
    `no recorded answer to this ${what} of provider "${provider}": ${why}`,
  );
}

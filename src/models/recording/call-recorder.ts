import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type { Redact } from '../../contract/scrub.ts';
import { openRecordingWriter } from '../../process/cassette/recording-writer.ts';
import type { Peer } from '../provider-error.ts';
import { wrapModel } from '../wrapped-model.ts';
import {
  type CallOutcome,
  describeModelCall,
  digestCall,
  encodeRecordedCall,
  type ModelCallRequest,
  redactCall,
} from './recorded-call.ts';

export interface CallRecorder {
  /**
   * Records every answered or failed call before the caller sees its end, except calls that the caller aborts. Calls
   * throw FILE_UNREADABLE if they cannot be written.
   */
  wrap(model: LanguageModelV4, peer: Peer): LanguageModelV4;
  close(): Promise<void>;
}

/**
 * Appends to a recording, or creates one that only its owner can read. It contains prompts and answers, but no header,
 * no key, and nothing that `redact` removes.
 */
export function openCallRecorder(file: string, redact?: Redact): CallRecorder {
  const writer = openRecordingWriter(file, { isDurable: true });
  const begin = async (original: ModelCallRequest, peer: Peer): Promise<WriteOutcome> => {
    const call = redact === undefined ? original : redactCall(original, redact);
    const id = { digest: digestCall(call), ...writer.begin() };
    await writer.ready();
    return (outcome) => writer.write([encodeRecordedCall({ ...call, ...id, outcome }, peer.secrets, redact)]);
  };
  return {
    wrap: (model, peer) =>
      recordModel(model, (mode, options) =>
        begin(describeModelCall({ provider: peer.id, model: model.modelId, mode }, options), peer),
      ),
    close: writer.close,
  };
}

type WriteOutcome = (outcome: CallOutcome) => Promise<void>;

type BeginRecording = (
  mode: ModelCallRequest['mode'],
  options: LanguageModelV4CallOptions,
) => Promise<WriteOutcome>;

function recordModel(model: LanguageModelV4, begin: BeginRecording): LanguageModelV4 {
  return wrapModel(model, {
    wrapGenerate: async ({ params, doGenerate }) => {
      const write = await begin('generate', params);
      const result = await recordFailure(write, doGenerate());
      await write({ kind: 'result', result: withoutTransport(result) });
      return result;
    },
    wrapStream: async ({ params, doStream }) => {
      const write = await begin('stream', params);
      const { stream, ...rest } = await recordFailure(write, doStream());
      return { ...rest, stream: stream.pipeThrough(recordStream(write)) };
    },
  });
}

async function recordFailure<T>(write: WriteOutcome, work: PromiseLike<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    const error = toRuntimeError(thrown, 'PROVIDER_FAILED');
    if (error.code !== 'ABORTED') await write({ kind: 'error', error });
    throw thrown;
  }
}

export function withoutTransport({
  request: _,
  response,
  ...result
}: LanguageModelV4GenerateResult): LanguageModelV4GenerateResult {
  if (response === undefined) return result;
  const { headers: __, body: ___, ...kept } = response;
  return { ...result, response: kept };
}

function recordStream(
  write: WriteOutcome,
): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  const parts: LanguageModelV4StreamPart[] = [];
  return new TransformStream({
    transform: async (part, controller) => {
      parts.push(part);
      const isEnd = part.type === 'finish' || part.type === 'error';
      const failure =
        isEnd && !isAborted(part) ? await failureOf(write({ kind: 'parts', parts })) : undefined;
      controller.enqueue(failure === undefined ? part : { type: 'error', error: failure });
    },
  });
}

function isAborted(part: LanguageModelV4StreamPart): boolean {
  return part.type === 'error' && part.error instanceof RuntimeError && part.error.code === 'ABORTED';
}

async function failureOf(work: Promise<void>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

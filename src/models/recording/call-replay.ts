import { type FileHandle, open } from 'node:fs/promises';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { canonicalJson, findDifference } from '../../base/json/equal.ts';
import { sharedPrefixLength } from '../../base/text/phrases.ts';
import { abortedError } from '../../base/time/deadline.ts';
import type { Redact } from '../../contract/scrub.ts';
import { type ByteRange, type ReadAt, readerOf, readRange, scanLines } from '../../process/cassette/lines.ts';
import { createReplayQueues } from '../../process/cassette/replay-queues.ts';
import { createModel } from '../wrapped-model.ts';
import {
  type CallOutcome,
  decodeRecordedCall,
  describeModelCall,
  digestCall,
  type ModelCallRequest,
  type RecordedCall,
  redactCall,
} from './recorded-call.ts';

interface Recording {
  model(provider: string, modelName: string): LanguageModelV4;
}

export interface RecordingContext {
  readonly redact?: Redact | undefined;
  readonly onMiss?: (() => void) | undefined;
}

/** Leaves out truncated lines. Throws FILE_UNREADABLE. */
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

/** Takes the call of the first recorded digest. Without a redaction, that is the original one. */
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

function describeDifference(call: ModelCallRequest, recorded: readonly ModelCallRequest[]): string {
  const own = recorded.filter(({ provider }) => provider === call.provider);
  if (own.length === 0) return 'none of its calls is recorded';
  const sameModel = own.filter(({ model }) => model === call.model);
  if (sameModel.length === 0)
    return `the recording has the model ${own[0]?.model}, but the call is for ${call.model}`;
  const sameMode = sameModel.filter(({ mode }) => mode === call.mode);
  if (sameMode.length === 0) return `its calls were recorded ${call.mode === 'stream' ? 'un' : ''}streamed`;
  const path = findDifference(call.request, nearest(call, sameMode).request);
  return `the nearest recorded call differs at ${path ?? 'an unknown place'}`;
}

function nearest(call: ModelCallRequest, recorded: readonly ModelCallRequest[]): ModelCallRequest {
  const text = canonicalJson(call.request);
  const ranked = recorded
    .map((candidate) => ({ candidate, shared: sharedPrefixLength(text, canonicalJson(candidate.request)) }))
    .toSorted((one, other) => other.shared - one.shared);
  return ranked[0]?.candidate ?? call;
}

/** The model calls of a recording, by offset. Contents stay on disk. Methods reject with FILE_UNREADABLE. */
interface RecordedCalls {
  /** The next call of that digest, in the order of their starts. Each is taken once. */
  take(digest: string): Promise<RecordedCall | undefined>;
  has(digest: string): boolean;
  firstOf(provider: string): Promise<RecordedCall[]>;
}

/** Leaves out truncated lines and those of processes. Throws FILE_UNREADABLE, also for a damaged call. */
export async function openRecordedCalls(file: string): Promise<RecordedCalls> {
  const source = await openSource(file);
  const queues = createReplayQueues(MAX_COMPARED);
  let foundLines = 0;
  let unknownLines = 0;
  await source.use((read) =>
    scanLines(read, (line, range, lineNumber) => {
      if (isProcessLine(line)) return;
      const call = decodeRecordedCall(line.toString('utf8'), `${file}:${lineNumber}`);
      if (call === undefined) {
        unknownLines += 1;
        return;
      }
      foundLines += 1;
      const { digest: key, recorder, number, provider: group } = call;
      queues.add({ range, key, recorder, number, group });
    }),
  );
  if (foundLines === 0 && unknownLines > 0) throw noCallsError(file);
  const readCall = async (range: ByteRange): Promise<RecordedCall> => {
    const line = await source.use((read) => readRange(read, range));
    const call = decodeRecordedCall(line.toString('utf8'), file);
    if (call === undefined) throw unreadableError(file, new Error('it has changed'));
    return call;
  };
  return {
    take: async (digest) => {
      const next = queues.take(digest);
      return next && (await readCall(next));
    },
    has: (digest) => queues.count(digest) > 0,
    firstOf: async (provider) => await Promise.all(queues.group(provider).first.map(readCall)),
  };
}

const MAX_COMPARED = 200;

function isProcessLine(line: Buffer): boolean {
  const head = line.toString('latin1', 0, 12);
  return ['{"blob":', '{"exchange":', '{"cut":'].some((start) => head.startsWith(start));
}

interface RecordingSource {
  use<T>(work: (read: ReadAt) => Promise<T>): Promise<T>;
}

/** Opens a file anew for each read, since a model is never closed. Keeps the content of a pipe in memory. */
async function openSource(file: string): Promise<RecordingSource> {
  const use: RecordingSource['use'] = (work) => withFile(file, (handle) => work(readerOf(handle)));
  const piped = await withFile(file, async (handle) =>
    (await handle.stat()).isFile() ? undefined : await handle.readFile(),
  );
  return piped === undefined ? { use } : { use: (work) => work(readerOf(piped)) };
}

async function withFile<T>(file: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    return await work(handle);
  } catch (thrown) {
    throw unreadableError(file, thrown);
  } finally {
    await handle?.close();
  }
}

function unreadableError(file: string, thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const message = `the recording ${file} cannot be read: ${toRuntimeError(thrown).message}`;
  return new RuntimeError('FILE_UNREADABLE', message, { cause: thrown });
}

function noCallsError(file: string): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file} holds no recorded model call`, {
    hint: 'Make a recording with `--record FILE`.',
  });
}

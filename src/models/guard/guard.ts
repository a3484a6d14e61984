import type {
  LanguageModelV4,
  LanguageModelV4Content,
  LanguageModelV4Middleware,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { type Emit, emitNothing, type OperationEnd } from '../../contract/event.ts';
import type { Decision } from '../../contract/hook.ts';
import {
  endOfError,
  type Operation,
  readWithin,
  startOperation,
  trackedOperation,
  tracksOperations,
} from '../../contract/operation.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { knownUsage } from '../spending/cost.ts';
import { requireModelV4, requireSupportedVersion } from '../wrapped-model.ts';
import {
  type Decisions,
  reportDecisions,
  tokenCounts,
  unknownUsage,
  withReport,
  withTextlessReport,
  zeroUsage,
} from './decision-report.ts';
import {
  askHooks,
  createContradictionRefusal,
  createPieceEvent,
  denialFinishReason,
  type Fire,
  type PieceVerdict,
  passAnswer,
  releasePieces,
  type StoppedAnswer,
  type StreamDoor,
} from './guard-outcome.ts';
import {
  type AdmittedCall,
  type AnswerOutcome,
  answerFacts,
  answersOf,
  type CallSettings,
  generateGuarded,
  type ModelCall,
  openKeeping,
  runAfterCall,
  runBeforeCall,
  withoutAnswerText,
} from './guarded-call.ts';
import {
  createUniqueToolCallIds,
  finishPart,
  StreamCollector,
  type StreamEnd,
  streamContent,
  streamText,
  toStream,
  type UniqueToolCallIds,
} from './stream-collector.ts';
import { requireWindow, TextWindow } from './text-window.ts';

export interface GuardOptions {
  readonly fire: Fire;
  /** Receives the events of model calls as operations. Default: nothing does. */
  readonly emit?: Emit | undefined;
  /** The `provider_id` for hooks. By default, the model's own. */
  readonly providerId?: string | undefined;
  /**
   * When streamed text is released. `hold`, the default: after after_call has decided on the whole answer. `windowed`:
   * at once, except the last `windowChars` characters; filters see all text before its release.
   */
  readonly stream?: 'hold' | 'windowed' | undefined;
  /** UTF-16 units. 200 by default. */
  readonly windowChars?: number | undefined;
  /** Opens the model that a hook has named. Absent: hooks cannot choose the model. */
  readonly select?: CallSettings['select'];
  readonly keepCall?: CallSettings['keepCall'];
  /** Set if the host calls the model. */
  readonly isGuarded?: true;
}

/**
 * An AI SDK middleware that passes every model call through the provider hooks. A denial is thrown as DENIED; in a
 * stream it is an error part. docs/reference/guard.md lists other changes. Throws USAGE if the window is not a
 * positive whole number, or if the model does not have the AI SDK's specification v4.
 */
export function createGuard(options: GuardOptions): LanguageModelV4Middleware {
  const {
    fire,
    emit = emitNothing,
    providerId,
    stream = 'hold',
    windowChars = 200,
    select,
    keepCall,
    isGuarded,
  } = options;
  requireWindow(windowChars);
  const marks = isGuarded ? ({ isGuarded } as const) : {};
  const window = stream === 'windowed' ? windowChars : undefined;
  return {
    specificationVersion: 'v4',
    overrideSupportedUrls: requireSupportedVersion,
    wrapGenerate: async ({ model, params }) => {
      requireModelV4(model);
      const settings = { fire, providerId, select, keepCall, signal: params.abortSignal };
      const answer = () => generateGuarded({ model, params }, settings);
      if (!tracksOperations(emit)) return await answer();
      const operation = startOperation(emit, { ...aboutCall(model, providerId, false), ...marks });
      return await trackCall(operation, answer, (result) => {
        operation.finish({ status: 'ok' });
        return result;
      });
    },
    wrapStream: async ({ model, params }) => {
      requireModelV4(model);
      const signal = params.abortSignal;
      const settings = { fire, providerId, select, keepCall, signal, windowChars: window };
      const answer = () => streamGuarded({ model, params }, settings);
      if (!tracksOperations(emit)) return await answer();
      const operation = startOperation(emit, { ...aboutCall(model, providerId, true), ...marks });
      return await trackCall(operation, answer, (result) => ({
        ...result,
        stream: trackStream(operation, result.stream),
      }));
    },
  };
}

function aboutCall({ modelId, provider }: LanguageModelV4, id = provider, isStreamed: boolean) {
  return { operation: 'model', name: modelId, provider: id, isStreamed } as const;
}

async function trackCall<Result>(
  operation: Operation,
  answer: () => Promise<Result>,
  onResult: (result: Result) => Result,
): Promise<Result> {
  try {
    return onResult(await operation.run(answer));
  } catch (thrown) {
    operation.finish(endOfError(thrown, 'PROVIDER_FAILED'));
    throw thrown;
  }
}

/** The operation ends with the stream. It has failed if an error is a part of the stream. */
function trackStream(operation: Operation, stream: ReadableStream<Part>): ReadableStream<Part> {
  let failure: OperationEnd | undefined;
  return readWithin(operation, stream, {
    onPart: (part) => {
      if (part.type === 'error') failure ??= endOfError(part.error, 'PROVIDER_FAILED');
    },
    onEnd: (thrown) => {
      const end = thrown === undefined ? ({ status: 'ok' } as const) : endOfError(thrown, 'PROVIDER_FAILED');
      operation.finish(failure ?? end);
    },
  });
}

type Part = LanguageModelV4StreamPart;

interface StreamSettings extends CallSettings {
  readonly windowChars: number | undefined;
}

async function streamGuarded(
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
  const keep = openKeeping(admitted, settings);
  const startedAt = performance.now();
  const result = await callModel(admitted, AbortSignal.any([signal, modelStop.signal])).catch((error) => {
    keep([]);
    throw error;
  });
  const upstream = openUpstream(result.stream, modelStop, createUniqueToolCallIds(admitted.params.prompt));
  const latencyMs = () => Math.round(performance.now() - startedAt);
  const { metadata, onSame } = holdMetadata(result);
  const { fire } = settings;
  const guarded: GuardedStream = { fire, admitted, upstream, signal, latencyMs, onSame, keep };
  const cancel = (reason: unknown): void => {
    consumerGone.abort(reason);
    upstream.abandon(reason);
    keep([]);
  };
  return {
    ...metadata,
    stream: toStream(passAnswer(new AnswerDoor(guarded, settings.windowChars)), { cancel }),
  };
}

/**
 * The request and response members stay empty until `onSame` is called: a body or header may quote an answer that is
 * withheld or changed. The AI SDK reads both when the stream has ended.
 */
function holdMetadata({ request, response }: LanguageModelV4StreamResult) {
  const metadata = { request: {}, response: {} };
  const onSame = () => {
    Object.assign(metadata.request, request);
    Object.assign(metadata.response, response);
  };
  return { metadata, onSame };
}

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

/**
 * Streams an answer to the AI SDK. Without a window, nothing is sent before the after_call hooks have seen the whole
 * answer. With a window, released text is sent at once, always as one part.
 */
class AnswerDoor implements StreamDoor<Part, Part> {
  readonly #passage: GuardedStream;
  readonly #window: TextWindow | undefined;
  readonly #collector = new StreamCollector();
  #end: StreamEnd = interruptedEnd;
  #windows = 0;
  #released = '';
  #sentChars = 0;
  #isTextOpen = false;

  constructor(passage: GuardedStream, windowChars: number | undefined) {
    this.#passage = passage;
    this.#window = windowChars === undefined ? undefined : new TextWindow(windowChars);
  }

  async *next(): AsyncGenerator<Part, Part | undefined> {
    for (;;) {
      const event = await this.#passage.upstream.next();
      if (event.kind === 'held') return event.part;
      if (event.kind === 'failed') throw new UpstreamFailure(event.error);
      if (event.kind === 'finished') {
        this.#end = event.end;
        return undefined;
      }
      yield event.part;
    }
  }

  async *take(part: Part): AsyncGenerator<Part, StoppedAnswer | undefined> {
    this.#collector.add(part);
    if (this.#window === undefined || part.type !== 'text-delta') return undefined;
    this.#window.push(part.delta);
    const { text, stopped } = await releasePieces(this.#window, (piece) => this.#judgePiece(piece));
    this.#released += text;
    return stopped;
  }

  *release(): Generator<Part> {
    const text = this.#released;
    this.#released = '';
    yield* this.#emit(text);
  }

  async *conclude(): AsyncGenerator<Part, void> {
    const end = this.#end;
    const outcome = await runAfterCallOnCollected(this.#passage, this.#collector, end);
    if (outcome.kind === 'refuse' || outcome.kind === 'answer') {
      this.#passage.keep(answersOf(outcome));
      yield* this.#withhold(outcome);
    } else {
      const content = outcome.kind === 'same' ? this.#collector.content() : outcome.content;
      if (!this.#continuesReleased(content))
        return yield* this.#withhold(createContradictionRefusal(outcome.decision));
      this.#passage.keep(answersOf(outcome));
      yield* this.#finishText(content);
      const parts = outcome.kind === 'same' ? this.#collector.parts() : streamContent(outcome.content);
      const isLeft = this.#window === undefined ? () => true : isNoText;
      const decisions = this.#decisions(outcome.decision);
      yield* endReleased(this.#passage, outcome, { parts: parts.filter(isLeft), end, decisions });
    }
    await this.#passage.upstream.drain();
  }

  abandon(reason: unknown): void {
    this.#passage.upstream.abandon(reason);
  }

  async *breakOff(stopped: StoppedAnswer): AsyncGenerator<Part, void> {
    this.#passage.signal.throwIfAborted();
    await runAfterCallOnCollected(this.#passage, this.#collector, interruptedEnd);
    yield* this.#withhold(stopped);
  }

  *#withhold(withheld: StoppedAnswer): Generator<Part> {
    this.#keepReleased();
    this.#passage.signal.throwIfAborted();
    yield* this.#closeText();
    yield* endWithheld(withheld, this.#decisions(withheld.decision), this.#end.usage);
  }

  /** A fault of the guard itself ends the stream with INTERNAL, without answer text. */
  async *fail(error: unknown): AsyncGenerator<Part, void> {
    this.#keepReleased();
    if (error instanceof UpstreamFailure) yield* this.#closeText();
    const fault = new RuntimeError('INTERNAL', 'the guard failed, so the answer is withheld');
    yield* endFailed(this.#passage, error instanceof UpstreamFailure ? error.cause : fault);
  }

  /** Of an answer that is stopped, the caller has what was released. */
  #keepReleased(): void {
    const content = this.#window?.released ?? '';
    this.#passage.keep(content === '' ? [] : [{ role: 'assistant', content }]);
  }

  #continuesReleased(content: readonly LanguageModelV4Content[]): boolean {
    return this.#window === undefined || textOf(content).startsWith(this.#window.released);
  }

  *#finishText(content: readonly LanguageModelV4Content[]): Generator<Part> {
    if (this.#window === undefined) return;
    yield* this.#emit(textOf(content).slice(this.#sentChars));
    const texts = content.filter((part) => part.type === 'text');
    yield* this.#closeText(texts.length === 1 ? texts[0] : undefined);
  }

  *#closeText(text: Partial<TextContent> = {}): Generator<Part> {
    if (!this.#isTextOpen) return;
    this.#isTextOpen = false;
    const { citations, providerMetadata: metadata } = text;
    yield {
      type: 'text-end',
      id: textPartId,
      ...(citations && { citations }),
      ...(metadata && { providerMetadata: metadata }),
    };
  }

  *#emit(text: string): Generator<Part> {
    if (text === '') return;
    if (!this.#isTextOpen) yield { type: 'text-start', id: textPartId };
    this.#isTextOpen = true;
    this.#sentChars += text.length;
    yield { type: 'text-delta', id: textPartId, delta: text };
  }

  async #judgePiece(piece: string): Promise<PieceVerdict> {
    const { fire, admitted, signal, latencyMs } = this.#passage;
    this.#windows += 1;
    const message: ChatMessage = { role: 'assistant', content: piece };
    const { request } = admitted;
    const event = createPieceEvent({ request, message, latencyMs: latencyMs() }, this.#windows);
    const outcome = await askHooks(fire, event, { signal, filtersOnly: true });
    return outcome.kind === 'pass' ? { kind: 'pass', text: outcome.event.response.message.content } : outcome;
  }

  #decisions(after: Decision): Decisions {
    const windows = this.#window === undefined ? {} : { windows: this.#windows };
    return { before: this.#passage.admitted.decision, after, ...windows };
  }
}

class UpstreamFailure extends Error {
  constructor(cause: unknown) {
    super('the model failed', { cause });
  }
}

type TextContent = Extract<LanguageModelV4Content, { type: 'text' }>;

const textPartId = 'signalbox-text';

function textOf(content: readonly LanguageModelV4Content[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function isNoText({ type }: Part): boolean {
  return type !== 'text-start' && type !== 'text-delta' && type !== 'text-end';
}

interface GuardedStream {
  readonly fire: Fire;
  readonly admitted: AdmittedCall;
  readonly upstream: Upstream;
  /** Aborted when the caller aborts or the consumer cancels the stream. */
  readonly signal: AbortSignal;
  readonly latencyMs: () => number;
  readonly onSame: () => void;
  readonly keep: (answers: readonly ChatMessage[]) => void;
}

async function runAfterCallOnCollected(
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

function endReleased(
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

function endWithheld(withheld: StoppedAnswer, decisions: Decisions, usage: StreamEnd['usage']): Part[] {
  const end = { usage: tokenCounts(usage), providerMetadata: reportDecisions(decisions) };
  if (withheld.kind === 'answer') {
    const { text, finishReason } = withheld.answer;
    return [...streamText(text), finishPart({ ...end, finishReason })];
  }
  const { error, decision } = withheld;
  return [{ type: 'error', error }, finishPart({ ...end, finishReason: denialFinishReason(decision) })];
}

function endFailed({ upstream, admitted, signal }: GuardedStream, error: unknown): Part[] {
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

type UpstreamEvent =
  | { readonly kind: 'free'; readonly part: Part }
  | { readonly kind: 'held'; readonly part: Part }
  /** The answer is complete, or the stream has ended as if it were. */
  | { readonly kind: 'finished'; readonly end: StreamEnd }
  | { readonly kind: 'failed'; readonly error: unknown };

interface Upstream {
  /** Never rejects. Skips raw chunks, which hold the answer unfiltered. */
  next(): Promise<UpstreamEvent>;
  drain(): Promise<void>;
  abandon(reason: unknown): void;
}

/** `stop` aborts the model call's signal. Makes tool call ids unique, and removes uncounted zeros from the usage. */
function openUpstream(
  stream: ReadableStream<Part>,
  stop: AbortController,
  calls: UniqueToolCallIds,
): Upstream {
  const reader = stream.getReader();
  const operation = trackedOperation();
  const next = async (): Promise<UpstreamEvent> => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return { kind: 'finished', end: interruptedEnd };
        if (operation !== undefined) notePart(operation, value);
        if (value.type !== 'raw') return toUpstreamEvent(calls.part(value));
      }
    } catch (error) {
      return { kind: 'failed', error };
    }
  };
  return {
    next,
    drain: async () => {
      try {
        while (!(await reader.read()).done);
      } catch {
        // The answer was complete, so a later error of its stream does not matter.
      }
    },
    abandon: (reason) => {
      stop.abort(reason);
      // Cancelling a failed stream rejects too.
      reader.cancel(reason).catch(() => {});
    },
  };
}

function notePart(operation: Operation, part: Part): void {
  if (part.type === 'finish') operation.note(answerFacts(part));
  else if (part.type !== 'stream-start' && part.type !== 'response-metadata' && part.type !== 'raw')
    operation.noteFirstChunk();
}

const interruptedEnd: StreamEnd = {
  finishReason: { unified: 'interrupted', raw: undefined },
  usage: unknownUsage,
};

function toUpstreamEvent(part: Part): UpstreamEvent {
  switch (part.type) {
    case 'stream-start':
    case 'response-metadata':
    case 'ping':
      return { kind: 'free', part };
    case 'finish': {
      const { type: _, usage, ...end } = part;
      return { kind: 'finished', end: { ...end, usage: knownUsage(usage) } };
    }
    case 'error':
      return { kind: 'failed', error: part.error };
    default:
      return { kind: 'held', part };
  }
}

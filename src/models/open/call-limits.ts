import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import pRetry from 'p-retry';
import { RuntimeError } from '../../base/errors.ts';
import { whenAborted } from '../../base/time/async.ts';
import { sleep } from '../../base/time/deadline.ts';
import { currentClock } from '../../base/time/stopwatch.ts';
import { notifyRetry } from '../call-scope.ts';
import { createProviderError, type Peer, toProviderError } from '../provider-error.ts';
import type { RateQueue, Turn } from '../rate/rate-queue.ts';
import { estimateTokens, tokensOf } from '../spending/cost.ts';
import { wrapModel } from '../wrapped-model.ts';
import { type CallDeadline, startCallDeadline } from './call-deadline.ts';

export interface Limits {
  readonly timeoutMs: number;
  readonly idleMs: number;
  readonly retry: RetryLimits;
  readonly streamRetry: RetryLimits;
  /** Waits for a stream slot, and returns the function that frees it. Undefined: there is no limit. */
  readonly takePlace: ((signal: AbortSignal) => Promise<() => void>) | undefined;
}

interface RetryLimits {
  readonly retries: number;
  /** The wait before the first retry. It doubles with each further one, and is randomly up to twice as long. */
  readonly retryBaseMs: number;
  /** The longest wait without a `retry-after`. */
  readonly maxWaitMs: number;
  readonly mayRetry?: () => boolean;
}

/**
 * Adds a deadline and retries. Every failure becomes PROVIDER_FAILED, PROVIDER_TIMEOUT or ABORTED: thrown, or the last
 * part of a stream that has begun. A stream that has delivered is never retried.
 */
export function withLimits(
  model: LanguageModelV4,
  limits: Limits,
  peer: Peer,
  rate?: RateQueue,
): LanguageModelV4 {
  const call = { model, limits, peer, rate };
  return wrapModel(model, {
    wrapGenerate: ({ params }) => generate(call, params),
    wrapStream: ({ params }) => stream(call, params),
  });
}

interface LimitedCall {
  readonly model: LanguageModelV4;
  readonly limits: Limits;
  readonly peer: Peer;
  readonly rate: RateQueue | undefined;
}

async function generate(
  call: LimitedCall,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4GenerateResult> {
  const deadline = startCallDeadline(call.peer.id, call.limits.timeoutMs, options.abortSignal);
  try {
    return await retry(call, call.limits.retry, deadline, options, async (turn) => {
      const result = await call.model.doGenerate({ ...options, abortSignal: deadline.signal });
      turn?.settle(tokensOf(result.usage));
      requireFinished(result.finishReason, call.peer.id);
      return result;
    });
  } finally {
    deadline.end();
  }
}

async function stream(
  call: LimitedCall,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> {
  const { timeoutMs, idleMs, streamRetry, takePlace } = call.limits;
  const deadline = startCallDeadline(call.peer.id, timeoutMs, options.abortSignal, idleMs);
  try {
    const leave = await takePlace?.(deadline.signal);
    // Every end of the stream aborts the signal.
    if (leave !== undefined) whenAborted(deadline.signal, leave);
    return await retry(call, streamRetry, deadline, options, async (turn) => {
      const result = await call.model.doStream({ ...options, abortSignal: deadline.signal });
      const counted = turn === undefined ? result.stream : countTokens(result.stream, turn);
      const checked = await openCheckedStream(counted, { deadline, peer: call.peer });
      return { ...result, stream: checked };
    });
  } catch (thrown) {
    deadline.end();
    throw thrown;
  }
}

async function retry<T>(
  { peer, rate }: LimitedCall,
  limits: RetryLimits,
  deadline: CallDeadline,
  options: LanguageModelV4CallOptions,
  attempt: (turn: Turn | undefined) => Promise<T>,
): Promise<T> {
  const tryOnce = async () => {
    const turn = rate && (await waitForTurn(rate, options, deadline.signal));
    try {
      return await deadline.race(attempt(turn));
    } catch (thrown) {
      const error = deadline.signal.aborted ? deadline.signal.reason : toProviderError(thrown, peer);
      if (turn !== undefined) settleFailed(turn, error);
      throw error;
    }
  };
  const clock = currentClock();
  clock?.change('upstream', 1);
  try {
    return await pRetry(tryOnce, {
      retries: limits.retries,
      minTimeout: limits.retryBaseMs,
      factor: 2,
      randomize: true,
      maxTimeout: limits.maxWaitMs,
      signal: deadline.signal,
      shouldRetry: ({ error, retryDelay, attemptNumber: attempt }) =>
        waitToRetry(deadline, error, { delayMs: retryDelay, attempt, limits }),
    });
  } finally {
    clock?.change('upstream', -1);
  }
}

async function waitForTurn(
  rate: RateQueue,
  options: LanguageModelV4CallOptions,
  signal: AbortSignal,
): Promise<Turn> {
  const clock = currentClock();
  clock?.change('waiting', 1);
  try {
    return await rate.take(estimateTokens(options), signal);
  } finally {
    clock?.change('waiting', -1);
  }
}

/** An API that rejects a call with 429 has used no tokens, and may ask all callers to wait. */
function settleFailed(turn: Turn, error: unknown): void {
  const { status, retry_after_ms: waitMs } = error instanceof RuntimeError ? error.details : {};
  turn.settle(status === 429 ? 0 : undefined);
  if (status === 429 && typeof waitMs === 'number') turn.hold(waitMs);
}

function countTokens(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  turn: Turn,
): ReadableStream<LanguageModelV4StreamPart> {
  return stream.pipeThrough(
    new TransformStream({
      transform: (part, controller) => {
        if (part.type === 'finish') turn.settle(tokensOf(part.usage));
        controller.enqueue(part);
      },
    }),
  );
}

/** A call fails if `retry-after` is longer. */
const MAX_WAIT_MS = 60_000;

interface FailedAttempt {
  readonly delayMs: number;
  readonly attempt: number;
  readonly limits: RetryLimits;
}

async function waitToRetry(
  deadline: CallDeadline,
  error: Error,
  { delayMs, attempt, limits }: FailedAttempt,
): Promise<boolean> {
  if (!(error instanceof RuntimeError) || error.details['retryable'] !== true) return false;
  const requestedMs = error.details['retry_after_ms'];
  const waitMs = Math.max(delayMs, typeof requestedMs === 'number' ? requestedMs : 0);
  if (waitMs > MAX_WAIT_MS || waitMs >= deadline.remainingMs()) return false;
  if (limits.mayRetry?.() === false) return false;
  notifyRetry({ attempt, maxRetries: limits.retries, error, backoffMs: Math.round(waitMs) });
  if (waitMs > delayMs) await sleep(waitMs - delayMs, deadline.signal);
  return true;
}

interface StreamContext {
  readonly deadline: CallDeadline;
  readonly peer: Peer;
}

/**
 * Waits until a stream begins to answer. The result ends with `finish`, or with one `error` part if the stream fails,
 * stalls or ends early. Tool calls, and everything after them, are held until `finish`, so that callers never act on an
 * incomplete answer. Throws what happens before the first part.
 */
async function openCheckedStream(
  source: ReadableStream<LanguageModelV4StreamPart>,
  context: StreamContext,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const reader = createStreamReader(source, context);
  try {
    while (isPreamble(await reader.readPart()));
  } catch (thrown) {
    reader.cancel();
    throw thrown;
  }
  context.deadline.pause();
  const end = () => {
    context.deadline.end();
    reader.cancel();
  };
  const pull = async (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => {
    const part = await reader.next();
    controller.enqueue(part);
    if (part.type !== 'finish' && part.type !== 'error') return;
    end();
    controller.close();
  };
  return new ReadableStream({ pull, cancel: end }, { highWaterMark: 0 });
}

interface StreamReader {
  readPart(): Promise<LanguageModelV4StreamPart | undefined>;
  next(): Promise<LanguageModelV4StreamPart>;
  cancel(): void;
}

function createStreamReader(
  source: ReadableStream<LanguageModelV4StreamPart>,
  { deadline, peer }: StreamContext,
): StreamReader {
  const reader = source.getReader();
  const filter = createPartFilter(peer.id);
  const ready: LanguageModelV4StreamPart[] = [];
  const readOn = async () => {
    const { value } = await deadline.race(reader.read());
    ready.push(...filter.accept(value));
    return value;
  };
  const next = async (): Promise<LanguageModelV4StreamPart> => {
    try {
      for (;;) {
        const part = ready.shift();
        if (part !== undefined) return part;
        deadline.restart();
        await readOn();
        deadline.pause();
      }
    } catch (thrown) {
      const error: unknown = deadline.signal.aborted ? deadline.signal.reason : toProviderError(thrown, peer);
      return { type: 'error', error };
    }
  };
  return { readPart: readOn, next, cancel: () => void reader.cancel().catch(() => {}) };
}

function requireFinished({ unified, raw }: LanguageModelV4FinishReason, id: string): void {
  if (unified === 'interrupted') throw unfinishedError(id);
  if (unified !== 'error') return;
  const message = `the answer ended with the finish reason ${raw ?? 'error'}`;
  throw createProviderError(id, { message });
}

function unfinishedError(id: string): Error {
  return createProviderError(id, { message: 'the answer broke off before it was complete', retryable: true });
}

interface PartFilter {
  /** Undefined marks the end. Returns the parts that may pass now. Throws if the stream fails. */
  accept(part: LanguageModelV4StreamPart | undefined): readonly LanguageModelV4StreamPart[];
}

function createPartFilter(id: string): PartFilter {
  let held: LanguageModelV4StreamPart[] | undefined;
  return {
    accept: (part) => {
      if (part === undefined) throw unfinishedError(id);
      if (part.type === 'error') throw saysUnfinished(part.error) ? unfinishedError(id) : part.error;
      if (part.type === 'finish') {
        requireStreamFinished(part.finishReason, id);
        return [...(held ?? []), part];
      }
      if (part.type === 'tool-call') held ??= [];
      if (held === undefined) return [part];
      held.push(part);
      return [];
    },
  };
}

/** One package has an error of its own for a stream without a finish reason. */
function saysUnfinished(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'AI_InvalidResponseDataError' &&
    'data' in error &&
    error.data === undefined
  );
}

/** Throws like `requireFinished`, and if the API gave no finish reason: packages then give `other` without `raw`. */
function requireStreamFinished(finishReason: LanguageModelV4FinishReason, id: string): void {
  requireFinished(finishReason, id);
  if (finishReason.unified === 'other' && finishReason.raw === undefined) throw unfinishedError(id);
}

function isPreamble(part: LanguageModelV4StreamPart | undefined): boolean {
  if (part === undefined) return false;
  return preambleTypes.has(part.type) || ('delta' in part && part.delta === '');
}

const preambleTypes: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
  'stream-start',
  'response-metadata',
  'raw',
  'ping',
  'custom',
  'text-start',
  'text-end',
  'reasoning-start',
  'reasoning-end',
]);

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import pRetry from 'p-retry';
import { RuntimeError } from '../../base/errors.ts';
import { sleep } from '../../base/time/deadline.ts';
import { currentClock } from '../../base/time/stopwatch.ts';
import { whenAborted } from '../../base/time/when-aborted.ts';
import { type Peer, toProviderError } from '../provider-error.ts';
import { estimateTokens, tokensOf } from '../rate/call-tokens.ts';
import type { RateQueue, Turn } from '../rate/rate-queue.ts';
import { wrapModel } from '../wrapped-model.ts';
import { type CallDeadline, startCallDeadline } from './call-deadline.ts';
import { openCheckedStream, requireFinished } from './checked-stream.ts';
import { notifyRetry } from './retry-listener.ts';

export interface Limits {
  /** Of a call with its retries; of a stream until its first part. */
  readonly timeoutMs: number;
  /** Of a stream between its parts. */
  readonly idleMs: number;
  readonly retry: RetryLimits;
  readonly streamRetry: RetryLimits;
  /** Waits for the place of a stream, and returns what gives it back; undefined: there is always one. */
  readonly takePlace: ((signal: AbortSignal) => Promise<() => void>) | undefined;
}

interface RetryLimits {
  /** Attempts after the first. */
  readonly retries: number;
  /** The wait before the first retry, doubled before each further one, and up to doubled by chance. */
  readonly retryBaseMs: number;
  /** The longest wait by our own count. */
  readonly maxWaitMs: number;
  /** Asked before each retry. */
  readonly mayRetry?: () => boolean;
}

/**
 * Puts a deadline and retries around a model. Whatever goes wrong ends as PROVIDER_FAILED, PROVIDER_TIMEOUT or
 * ABORTED: thrown, or as the last part of a stream that had begun. A stream that has delivered is never retried.
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
  /** What each attempt waits for. */
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
    // Aborted by whatever ends the stream.
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
}

/** The wait for a turn is no part of the time that a call takes. */
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

/** An API that refuses a call has read no tokens of it, and may ask everybody to wait. */
function settleFailed(turn: Turn, error: unknown): void {
  const { status, retry_after_ms: waitMs } = error instanceof RuntimeError ? error.details : {};
  turn.settle(status === 429 ? 0 : undefined);
  if (status === 429 && typeof waitMs === 'number') turn.hold(waitMs);
}

/** The stream, whose last part tells what the call has used. */
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

/** With a longer `retry-after` than this, the call fails instead. */
const MAX_WAIT_MS = 60_000;

interface FailedAttempt {
  readonly delayMs: number;
  readonly attempt: number;
  readonly limits: RetryLimits;
}

/** Waits until the API's requested delay is over. False when a retry is of no use or would come too late. */
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

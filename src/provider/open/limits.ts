import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import pRetry from 'p-retry';
import { RuntimeError } from '../../errors.ts';
import { sleep } from '../../transport/deadline.ts';
import { type Clock, startClock } from './clock.ts';
import { type Peer, toFailure } from './failure.ts';
import { tellRetry } from './retries.ts';
import { requireFinished, settleStream } from './stream.ts';

export interface Limits {
  /** Of a call with its retries; of a stream until its first part, then between its parts. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** The wait before the first retry, doubled before each further one, and up to doubled by chance. */
  readonly retryBaseMs: number;
}

/**
 * Puts a deadline and retries around a model. Whatever goes wrong ends as PROVIDER_FAILED, PROVIDER_TIMEOUT or
 * ABORTED: thrown, or as the last part of a stream that had begun. A stream that has delivered is never retried.
 */
export function withLimits(model: LanguageModelV4, limits: Limits, peer: Peer): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => generate({ model, limits, peer }, options),
    doStream: (options) => stream({ model, limits, peer }, options),
  };
}

interface Called {
  readonly model: LanguageModelV4;
  readonly limits: Limits;
  readonly peer: Peer;
}

async function generate(
  called: Called,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4GenerateResult> {
  const clock = startClock(called.peer.id, called.limits.timeoutMs, options.abortSignal);
  try {
    return await retry(called, clock, async () => {
      const result = await called.model.doGenerate({ ...options, abortSignal: clock.signal });
      requireFinished(result.finishReason, called.peer.id);
      return result;
    });
  } finally {
    clock.end();
  }
}

async function stream(
  called: Called,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> {
  const clock = startClock(called.peer.id, called.limits.timeoutMs, options.abortSignal);
  try {
    return await retry(called, clock, async () => {
      const result = await called.model.doStream({ ...options, abortSignal: clock.signal });
      const settled = await settleStream(result.stream, { clock, peer: called.peer });
      return { ...result, stream: settled };
    });
  } catch (thrown) {
    clock.end();
    throw thrown;
  }
}

async function retry<T>({ limits, peer }: Called, clock: Clock, attempt: () => Promise<T>): Promise<T> {
  const tryOnce = async () => {
    try {
      return await clock.race(attempt());
    } catch (thrown) {
      throw clock.signal.aborted ? clock.signal.reason : toFailure(thrown, peer);
    }
  };
  return await pRetry(tryOnce, {
    retries: limits.retries,
    minTimeout: limits.retryBaseMs,
    factor: 2,
    randomize: true,
    maxTimeout: LONGEST_WAIT_MS,
    signal: clock.signal,
    shouldRetry: ({ error, retryDelay, attemptNumber: attempt }) =>
      waitToRetry(clock, error, { delayMs: retryDelay, attempt, maxRetries: limits.retries }),
  });
}

/** An API that wants more patience than this is down for this call. */
const LONGEST_WAIT_MS = 60_000;

interface Failed {
  readonly delayMs: number;
  readonly attempt: number;
  readonly maxRetries: number;
}

/** Waits as much longer than `delayMs` as the API asks. False: another attempt is of no use, or comes too late. */
async function waitToRetry(
  clock: Clock,
  error: Error,
  { delayMs, attempt, maxRetries }: Failed,
): Promise<boolean> {
  if (!(error instanceof RuntimeError) || error.details['retryable'] !== true) return false;
  const asked = error.details['retry_after_ms'];
  const waitMs = Math.max(delayMs, typeof asked === 'number' ? asked : 0);
  if (waitMs > LONGEST_WAIT_MS || waitMs >= clock.remaining()) return false;
  tellRetry({ attempt, maxRetries, error, backoffMs: Math.round(waitMs) });
  if (waitMs > delayMs) await sleep(waitMs - delayMs, clock.signal);
  return true;
}

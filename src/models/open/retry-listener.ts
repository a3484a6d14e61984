import { AsyncLocalStorage } from 'node:async_hooks';
import type { RuntimeError } from '../../base/errors.ts';

/** A model call that failed and is about to be made again. */
export interface Retry {
  /** Which retry it is, from 1. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly error: RuntimeError;
  readonly backoffMs: number;
}

export type OnRetry = (retry: Retry) => void;

/** Between a call and its retries stand models of the AI SDK, whose calls have no place for a listener. */
const listeners = new AsyncLocalStorage<OnRetry>();

/** Runs work; the listener is called for each retry of a model call in it. */
export function withRetryListener<T>(onRetry: OnRetry, work: () => T): T {
  return listeners.run(onRetry, work);
}

/** Calls the retry listener of the work that is under way, if any. */
export function notifyRetry(retry: Retry): void {
  listeners.getStore()?.(retry);
}

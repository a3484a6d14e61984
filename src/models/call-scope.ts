import { AsyncLocalStorage } from 'node:async_hooks';
import type { RuntimeError } from '../base/errors.ts';
import type { ResponseCache } from './responses/response-cache.ts';
import type { Budget } from './spending/budget.ts';

/** What holds for all model calls of a piece of work, whoever in it makes them: a subject, a judge, a step of a pipeline. */
export interface CallScope {
  readonly budgets: readonly Budget[];
  /** Where answers are found and kept; undefined: every call is made. */
  readonly cache: ResponseCache | undefined;
  /** The number of the epoch: what is drawn anew for each is kept for each. */
  readonly epoch: number;
  /** How often each call was made, by its key: the same one again is another draw. */
  readonly asked: Map<string, number>;
  readonly tally: CallTally;
}

/** What the model calls of a piece of work came to. */
interface CallTally {
  calls: number;
  /** Those that the cache answered, which cost nothing. */
  cached: number;
  /** US dollars; null when the price or the usage of one is unknown. */
  costUsd: number | null;
}

export function createCallScope(parts: Pick<CallScope, 'budgets' | 'cache' | 'epoch'>): CallScope {
  return { ...parts, asked: new Map(), tally: { calls: 0, cached: 0, costUsd: 0 } };
}

/** Between the work and its calls stand models of the AI SDK, which have no place for it. */
const scopes = new AsyncLocalStorage<CallScope>();

export function inCallScope<Result>(scope: CallScope, work: () => Result): Result {
  return scopes.run(scope, work);
}

export function currentCallScope(): CallScope | undefined {
  return scopes.getStore();
}

interface Retry {
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

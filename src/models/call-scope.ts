import { AsyncLocalStorage } from 'node:async_hooks';
import type { RuntimeError } from '../base/errors.ts';
import type { ResponseCache } from './responses/response-cache.ts';
import type { Budget } from './spending/budget.ts';

/** State shared by all model calls of a piece of work: of a subject, a judge or a pipeline step. */
export interface CallScope {
  readonly budgets: readonly Budget[];
  readonly cache: ResponseCache | undefined;
  readonly epoch: number;
  /** The number of calls by key. A repeated call is a new sample. */
  readonly asked: Map<string, number>;
  readonly tally: CallTally;
}

interface CallTally {
  calls: number;
  cached: number;
  /** US dollars. Null if the price or the usage of a call is unknown. */
  costUsd: number | null;
}

export function createCallScope(parts: Pick<CallScope, 'budgets' | 'cache' | 'epoch'>): CallScope {
  return { ...parts, asked: new Map(), tally: { calls: 0, cached: 0, costUsd: 0 } };
}

/** Models of the AI SDK between the work and its calls cannot carry the scope. */
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

/** Models of the AI SDK between a call and its retries cannot carry a listener. */
const listeners = new AsyncLocalStorage<OnRetry>();

export function withRetryListener<T>(onRetry: OnRetry, work: () => T): T {
  return listeners.run(onRetry, work);
}

export function notifyRetry(retry: Retry): void {
  listeners.getStore()?.(retry);
}

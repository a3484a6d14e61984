import type {
  LanguageModelV4,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { RuntimeError } from '../base/errors.ts';
import { createModel } from './wrapped-model.ts';

interface Candidate {
  readonly id: string;
  open(): Promise<LanguageModelV4>;
}

export interface FallbackOptions {
  readonly breaker: Breaker;
  readonly onFallback: (from: string, to: string, error: RuntimeError) => void;
  readonly onOpen: (id: string) => void;
}

/**
 * Tries one provider after another until one does not fail by its own fault. Each candidate has its own guard, so hooks
 * see each call. A stream that has delivered anything stays with its provider.
 */
export function createFallbackModel(
  first: LanguageModelV4,
  candidates: readonly Candidate[],
  options: FallbackOptions,
): LanguageModelV4 {
  return createModel(first, {
    doGenerate: (params) =>
      tryEach(candidates, options, params.abortSignal, async (model) => await model.doGenerate(params)),
    doStream: (params) =>
      tryEach(candidates, options, params.abortSignal, async (model) =>
        startStream(await model.doStream(params)),
      ),
  });
}

async function tryEach<Result>(
  candidates: readonly Candidate[],
  { breaker, onFallback, onOpen }: FallbackOptions,
  signal: AbortSignal | undefined,
  call: (model: LanguageModelV4) => Promise<Result>,
): Promise<Result> {
  const closed = candidates.filter(({ id }) => !breaker.isOpen(id));
  const order = closed.length > 0 ? closed : candidates;
  for (const [index, { id, open }] of order.entries()) {
    const model = await open();
    try {
      const result = await call(model);
      breaker.succeed(id);
      return result;
    } catch (thrown) {
      if (signal?.aborted === true || !isFaultOfProvider(thrown)) throw thrown;
      if (breaker.fail(id)) onOpen(id);
      const next = order[index + 1];
      if (next === undefined) throw thrown;
      onFallback(id, next.id, thrown);
    }
  }
  throw new RuntimeError('INTERNAL', 'a chain of providers is empty');
}

/** Timeouts, unreachable APIs and temporary errors. A denial or a faulty request would recur at any provider. */
function isFaultOfProvider(thrown: unknown): thrown is RuntimeError {
  if (!(thrown instanceof RuntimeError)) return false;
  const { code, details } = thrown;
  if (code === 'PROVIDER_TIMEOUT') return true;
  return code === 'PROVIDER_FAILED' && (details['retryable'] === true || details['connection'] !== undefined);
}

async function startStream(result: LanguageModelV4StreamResult): Promise<LanguageModelV4StreamResult> {
  const reader = result.stream.getReader();
  const held: LanguageModelV4StreamPart[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (value.type === 'error' && isFaultOfProvider(value.error)) {
      await reader.cancel().catch(() => {});
      throw value.error;
    }
    held.push(value);
    if (!isPreamble(value)) break;
  }
  const pull = async (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => {
    const next = held.shift();
    if (next !== undefined) {
      controller.enqueue(next);
      return;
    }
    const { done, value } = await reader.read();
    if (done) controller.close();
    else controller.enqueue(value);
  };
  const cancel = (reason: unknown) => reader.cancel(reason);
  return { ...result, stream: new ReadableStream({ pull, cancel }, { highWaterMark: 0 }) };
}

function isPreamble({ type }: LanguageModelV4StreamPart): boolean {
  return type === 'stream-start' || type === 'response-metadata' || type === 'ping';
}

export interface Breaker {
  isOpen(id: string): boolean;
  /** Counts a failure in a row. Returns true when it excludes the provider. */
  fail(id: string): boolean;
  succeed(id: string): void;
}

export const BREAKER_FAILURES = 3;
export const BREAKER_PAUSE_MS = 30_000;

export function createBreaker(now: () => number = () => performance.now()): Breaker {
  const failing = new Map<string, { readonly count: number; readonly until: number }>();
  return {
    isOpen: (id) => (failing.get(id)?.until ?? 0) > now(),
    fail: (id) => {
      const count = (failing.get(id)?.count ?? 0) + 1;
      const isOpened = count >= BREAKER_FAILURES;
      failing.set(id, { count, until: isOpened ? now() + BREAKER_PAUSE_MS : 0 });
      return isOpened;
    },
    succeed: (id) => void failing.delete(id),
  };
}

/** Never excludes a provider. In recordings and replays, the clock must not choose the provider. */
export const noBreaker: Breaker = { isOpen: () => false, fail: () => false, succeed: () => {} };

import { createHash } from 'node:crypto';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { toRuntimeError } from '../../base/errors.ts';
import { sumOf } from '../../base/json/decimal.ts';
import { canonicalJson } from '../../base/json/equal.ts';
import { parseLossless, stringifyJson } from '../../base/json/json.ts';
import { fits } from '../../base/json/shape.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { trackedOperation } from '../../contract/operation.ts';
import { type CallScope, currentCallScope } from '../call-scope.ts';
import { withoutTransport } from '../recording/call-recorder.ts';
import {
  type CallOutcome,
  decodeSdkValue,
  describeModelCall,
  encodeSdkValue,
  outcome as outcomeShape,
} from '../recording/recorded-call.ts';
import { createModel } from '../wrapped-model.ts';
import type { Admission } from './budget.ts';
import { costOf, costOfUsage, estimateUsage, type Price } from './cost.ts';

/**
 * Counts a provider's calls for the work that makes them, applies its budgets and uses its cache. Throws
 * BUDGET_EXCEEDED for a call over budget. `isFree`: nothing is sent, as with a recording.
 */
export function meterModel(
  model: LanguageModelV4,
  provider: ProviderConfig,
  isFree: boolean,
): LanguageModelV4 {
  const prices = pricesOf(provider, isFree);
  const { maxTokens } = provider.defaults;
  const limited = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions =>
    maxTokens === undefined ? options : { maxOutputTokens: maxTokens, ...options };
  return createModel(model, {
    doGenerate: async (options) => {
      const scope = currentCallScope();
      const noteCost = costNoter();
      if (scope === undefined) {
        const result = await model.doGenerate(options);
        noteCost?.(result.usage, prices);
        return result;
      }
      const cached = isFree ? undefined : findCachedCall(scope, provider, 'generate', options);
      const known = await cached?.findResult();
      if (known !== undefined) {
        countCached(scope);
        noteCost?.(known.usage, free);
        return known;
      }
      const meter = await begin(scope, prices, limited(options));
      try {
        const result = await model.doGenerate(options);
        meter.end(result.usage);
        noteCost?.(result.usage, prices);
        await cached?.keep({ kind: 'result', result });
        return result;
      } catch (thrown) {
        meter.fail(thrown);
        cached?.forget();
        throw thrown;
      }
    },
    doStream: async (options) => {
      const scope = currentCallScope();
      const noteCost = costNoter();
      if (scope === undefined) {
        const answer = await model.doStream(options);
        return noteCost === undefined
          ? answer
          : watchStream(answer, { onEnd: async (_, usage) => noteCost(usage, prices), onFailure: () => {} });
      }
      const cached = isFree ? undefined : findCachedCall(scope, provider, 'stream', options);
      const known = await cached?.findParts();
      if (known !== undefined) {
        countCached(scope);
        const end = known.find((part) => part.type === 'finish');
        if (end !== undefined) noteCost?.(end.usage, free);
        return { stream: ReadableStream.from(known) };
      }
      const meter = await begin(scope, prices, limited(options));
      try {
        const answer = await model.doStream(options);
        return watchStream(answer, {
          onEnd: async (parts, usage) => {
            meter.end(usage);
            noteCost?.(usage, prices);
            await cached?.keep({ kind: 'parts', parts });
          },
          onFailure: () => {
            meter.endUnknown();
            cached?.forget();
          },
        });
      } catch (thrown) {
        meter.fail(thrown);
        cached?.forget();
        throw thrown;
      }
    },
  });
}

/** Adds the cost to the end of the current operation. Undefined if none is tracked. */
function costNoter(): ((usage: LanguageModelV4Usage, price: Price | undefined) => void) | undefined {
  const operation = trackedOperation();
  return operation && ((usage, price) => operation.note({ costUsd: costOfUsage(usage, price) }));
}

const free: Price = { input: 0, output: 0 };

/** US dollars per 1,000 tokens. Undefined if unknown. Mocks and tools cost nothing unless they have prices. */
function pricesOf({ pricing, type }: ProviderConfig, isFree: boolean): Price | undefined {
  if (isFree || type === 'replay') return free;
  return pricing ?? (type === 'mock' || type === 'tool' ? free : undefined);
}

export function hasPrices(provider: ProviderConfig): boolean {
  return pricesOf(provider, false) !== undefined;
}

function countCached({ tally }: CallScope): void {
  tally.calls += 1;
  tally.cached += 1;
}

interface Meter {
  end(usage: LanguageModelV4Usage): void;
  endUnknown(): void;
  /** A failed call has no cost only if the API gave a status or the provider is unusable. */
  fail(thrown: unknown): void;
}

async function begin(
  { budgets, tally }: CallScope,
  prices: Price | undefined,
  options: LanguageModelV4CallOptions,
): Promise<Meter> {
  const estimate = prices === undefined ? 0 : (costOf(estimateUsage(options), prices) ?? 0);
  const admissions: Admission[] = [];
  try {
    if (estimate > 0) {
      for (const budget of budgets) admissions.push(await budget.admit(estimate, options.abortSignal));
    }
  } catch (thrown) {
    for (const admission of admissions) admission.settle(0);
    throw thrown;
  }
  const settle = (usd: number | undefined) => {
    for (const admission of admissions) admission.settle(usd);
  };
  const count = (usd: number | undefined) => {
    settle(usd);
    tally.calls += 1;
    tally.costUsd = usd === undefined || tally.costUsd === null ? null : sumOf([tally.costUsd, usd]);
  };
  return {
    end: ({ inputTokens: { total: input }, outputTokens: { total: output } }) => {
      const isKnown = prices !== undefined && input !== undefined && output !== undefined;
      const isForNothing = prices?.input === 0 && prices.output === 0;
      count(isForNothing ? 0 : isKnown ? (costOf({ input, output }, prices) ?? undefined) : undefined);
    },
    endUnknown: () => count(estimate === 0 && prices !== undefined ? 0 : undefined),
    fail: (thrown) => {
      const { code, details } = toRuntimeError(thrown);
      const isForNothing = typeof details['status'] === 'number' || code === 'PROVIDER_UNUSABLE';
      settle(isForNothing ? 0 : undefined);
    },
  };
}

interface StreamWatch {
  onEnd(parts: readonly LanguageModelV4StreamPart[], usage: LanguageModelV4Usage): Promise<void>;
  onFailure(): void;
}

function watchStream(
  { stream, ...rest }: LanguageModelV4StreamResult,
  { onEnd, onFailure }: StreamWatch,
): LanguageModelV4StreamResult {
  const reader = stream.getReader();
  const parts: LanguageModelV4StreamPart[] = [];
  let isOver = false;
  const fail = () => {
    if (!isOver) onFailure();
    isOver = true;
  };
  const watched = new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        try {
          const { done, value: part } = await reader.read();
          if (done) {
            fail();
            controller.close();
            return;
          }
          if (part.type === 'error') fail();
          parts.push(part);
          if (part.type === 'finish' && !isOver) {
            isOver = true;
            await onEnd(parts, part.usage);
          }
          controller.enqueue(part);
        } catch (thrown) {
          fail();
          controller.error(thrown);
        }
      },
      async cancel(reason) {
        fail();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return { ...rest, stream: watched };
}

interface CachedCall {
  findResult(): Promise<LanguageModelV4GenerateResult | undefined>;
  findParts(): Promise<readonly LanguageModelV4StreamPart[] | undefined>;
  /** Stores only complete answers. Never rejects. */
  keep(outcome: CallOutcome): Promise<void>;
  /** The call failed, so a retry is the same call and not a second one. */
  forget(): void;
}

function findCachedCall(
  scope: CallScope,
  provider: ProviderConfig,
  mode: 'generate' | 'stream',
  options: LanguageModelV4CallOptions,
): CachedCall | undefined {
  const { cache, epoch, asked } = scope;
  if (cache === undefined) return undefined;
  const call = digestOf(provider, mode, options);
  const time = (asked.get(call) ?? 0) + 1;
  asked.set(call, time);
  const key = digest([call, epoch, time]);
  const find = async (): Promise<CallOutcome | undefined> =>
    await cache.find(key, (text) => {
      const outcome = decodeSdkValue(parseLossless(text));
      return fits(outcomeShape, outcome) && isWhole(outcome) ? outcome : undefined;
    });
  return {
    findResult: async () => {
      const outcome = await find();
      return outcome?.kind === 'result' ? outcome.result : undefined;
    },
    findParts: async () => {
      const outcome = await find();
      return outcome?.kind === 'parts' ? outcome.parts : undefined;
    },
    keep: async (outcome) => {
      if (!isWhole(outcome)) return;
      await cache.keep(key, () => stringifyJson(encodeSdkValue(withoutTransfer(outcome), 'keep')));
    },
    forget: () => {
      asked.set(call, (asked.get(call) ?? 1) - 1);
    },
  };
}

/** The digest covers the API, the model, its settings and the request, but no header and no key. */
function digestOf(
  { type, baseUrl, model, defaults, additionalConfig }: ProviderConfig,
  mode: 'generate' | 'stream',
  options: LanguageModelV4CallOptions,
): string {
  const { request } = describeModelCall({ provider: type, model, mode }, options);
  return digest([FORMAT_VERSION, { type, baseUrl, model, defaults, additionalConfig }, mode, request]);
}

const FORMAT_VERSION = 1;

function digest(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

function isWhole(outcome: CallOutcome): boolean {
  if (outcome.kind === 'result') return isDone(outcome.result.finishReason);
  if (outcome.kind === 'error') return false;
  const last = outcome.parts.at(-1);
  const hasError = outcome.parts.some(({ type }) => type === 'error');
  return !hasError && last?.type === 'finish' && isDone(last.finishReason);
}

function isDone({ unified }: LanguageModelV4FinishReason): boolean {
  return unified === 'stop' || unified === 'length' || unified === 'tool-calls';
}

function withoutTransfer(outcome: CallOutcome): CallOutcome {
  if (outcome.kind === 'result') return { kind: 'result', result: withoutTransport(outcome.result) };
  if (outcome.kind === 'error') return outcome;
  return { kind: 'parts', parts: outcome.parts.filter(({ type }) => type !== 'raw') };
}

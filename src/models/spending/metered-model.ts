import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { toRuntimeError } from '../../base/errors.ts';
import { sumOf } from '../../base/json/decimal.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { type CallScope, currentCallScope } from '../call-scope.ts';
import { estimateUsage } from '../rate/call-tokens.ts';
import { findCachedCall } from '../responses/cached-call.ts';
import { createModel } from '../wrapped-model.ts';
import type { Admission } from './budget.ts';
import { costOf, type Price } from './cost.ts';

/**
 * The model of a provider, whose calls are counted for the work that makes them: they keep to its budgets, and are answered from
 * its cache. Throws BUDGET_EXCEEDED for a call that is not made. `isFree`: nothing is sent, as of a recording.
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
      if (scope === undefined) return await model.doGenerate(options);
      const cached = isFree ? undefined : findCachedCall(scope, provider, 'generate', options);
      const known = await cached?.findResult();
      if (known !== undefined) {
        countCached(scope);
        return known;
      }
      const meter = await begin(scope, prices, limited(options));
      try {
        const result = await model.doGenerate(options);
        meter.end(result.usage);
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
      if (scope === undefined) return await model.doStream(options);
      const cached = isFree ? undefined : findCachedCall(scope, provider, 'stream', options);
      const known = await cached?.findParts();
      if (known !== undefined) {
        countCached(scope);
        return { stream: ReadableStream.from(known) };
      }
      const meter = await begin(scope, prices, limited(options));
      try {
        const answer = await model.doStream(options);
        return watchStream(answer, {
          onEnd: async (parts, usage) => {
            meter.end(usage);
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

/** US dollars for 1,000 tokens; undefined where nobody says. A script and a tool cost nothing unless they have prices. */
function pricesOf({ pricing, type }: ProviderConfig, isFree: boolean): Price | undefined {
  if (isFree || type === 'replay') return { input: 0, output: 0 };
  return pricing ?? (type === 'mock' || type === 'tool' ? { input: 0, output: 0 } : undefined);
}

/** Whether what calls of the provider cost can be told. */
export function hasPrices(provider: ProviderConfig): boolean {
  return pricesOf(provider, false) !== undefined;
}

function countCached({ tally }: CallScope): void {
  tally.calls += 1;
  tally.cached += 1;
}

interface Meter {
  end(usage: LanguageModelV4Usage): void;
  /** It was answered in part: what it has used is unknown. */
  endUnknown(): void;
  /** It failed; only of a status is it known that it cost nothing. */
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
      // Where nothing costs anything, nobody has to know how much was used.
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
  /** Called once the last part is there, before it is given on. */
  onEnd(parts: readonly LanguageModelV4StreamPart[], usage: LanguageModelV4Usage): Promise<void>;
  /** The stream broke off, or its reader gave it up. */
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

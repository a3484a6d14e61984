import type { Fault } from '../../errors.ts';
import { sumOf } from '../../json/decimal.ts';
import { omitUndefined } from '../../yaml/present.ts';
import type { ModelAnswer } from '../state/answer-record.ts';

/** Tokens and cost of model calls; a count is null, and `cost_usd` absent, if any call did not report it. */
export type CallUsage = ModelAnswer['usage'] & Pick<ModelAnswer, 'cost_usd'>;

/** The sum over calls; unknown if any call is unknown, since a partial sum could pass an overrun budget. */
export function sumUsage(calls: readonly CallUsage[]): CallUsage {
  const cost = sum(calls.map(({ cost_usd }) => cost_usd ?? null));
  return {
    input_tokens: sum(calls.map(({ input_tokens }) => input_tokens)),
    output_tokens: sum(calls.map(({ output_tokens }) => output_tokens)),
    ...(cost !== null && calls.length > 0 && { cost_usd: cost }),
  };
}

/** The measures of an answer in the metadata that evals see; what is not known is absent. */
export function answerMetadata(
  calls: readonly CallUsage[],
  {
    provider,
    model,
    latencyMs,
  }: {
    readonly provider?: string | undefined;
    readonly model?: string | undefined;
    /** From the first call of the model to the answer. */
    readonly latencyMs?: number | undefined;
  },
): Readonly<Record<string, number | string>> {
  const { input_tokens: input, output_tokens: output, cost_usd } = sumUsage(calls);
  return {
    ...(input !== null && { input_tokens: input }),
    ...(output !== null && { output_tokens: output }),
    ...(input !== null && output !== null && { total_tokens: input + output }),
    ...(cost_usd !== undefined && { cost_usd }),
    ...omitUndefined({ latency_ms: latencyMs, provider, model }),
  };
}

/** The usage of a failed call: one entry of unknown counts if the model may have worked, else none. */
export function usageOfFailedCall({ code, details }: Fault): readonly CallUsage[] {
  const isUnknown =
    code === 'PROVIDER_TIMEOUT' ||
    // An HTTP status means that the API refused the request: the model did no work.
    (code === 'PROVIDER_FAILED' && details?.['status'] === undefined) ||
    (code === 'DENIED' && details?.['phase'] === 'after_call');
  return isUnknown ? [{ input_tokens: null, output_tokens: null }] : [];
}

function sum(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length < counts.length ? null : sumOf(known);
}

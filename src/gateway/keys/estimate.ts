import type { Estimate } from '../call/ports.ts';
import type { EndpointName, TokenUsage, WireRequest } from '../wire/codec.ts';

/** US dollars per 1,000 tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

export interface CallToEstimate {
  readonly endpoint: EndpointName;
  readonly request: Pick<WireRequest, 'maxTokens' | 'choices'>;
  /** Of the request's body, in UTF-8. */
  readonly bodyBytes: number;
  readonly price: Price | undefined;
  /** The most tokens that the provider's own settings ask for, where the request says nothing. */
  readonly defaultMaxTokens?: number | undefined;
}

/**
 * What a call may use. Money: a token is at least one byte, so the input cannot cost more; the output is as long as it may be.
 * Tokens: four bytes each, as they mostly are.
 */
export function estimateCall(call: CallToEstimate): Estimate {
  const { endpoint, bodyBytes, price } = call;
  // Counting tokens is free, and has no answer that costs.
  if (endpoint === 'count_tokens') return { inputTokens: 0, outputTokens: 0, cost: 0 };
  const outputTokens = endpoint === 'embeddings' ? 0 : mostOutputTokens(call);
  const inputTokens = Math.ceil(bodyBytes / BYTES_PER_TOKEN);
  return { inputTokens, outputTokens, cost: costOf({ input: bodyBytes, output: outputTokens }, price) };
}

/** US dollars; null without a price. */
export function costOf(
  { input, output }: Pick<TokenUsage, 'input' | 'output'>,
  price: Price | undefined,
): number | null {
  return price === undefined ? null : (input * price.input + output * price.output) / 1000;
}

const BYTES_PER_TOKEN = 4;
/** Where neither the request nor the provider says how long an answer may be. */
const DEFAULT_MAX_TOKENS = 4096;

function mostOutputTokens({ request, defaultMaxTokens = DEFAULT_MAX_TOKENS }: CallToEstimate): number {
  return positiveOr(defaultMaxTokens, request.maxTokens) * positiveOr(1, request.choices);
}

/** A request that asks for less than nothing must not look cheap. */
function positiveOr(fallback: number, value: number | undefined): number {
  return value !== undefined && value > 0 ? value : fallback;
}

import { costOf, type Price } from '../../models/spending/cost.ts';
import type { Estimate } from '../ports.ts';
import type { EndpointName, WireRequest } from '../wire/codec.ts';
import { countBase64 } from './base64-runs.ts';

export interface CallToEstimate {
  readonly endpoint: EndpointName;
  readonly request: Pick<WireRequest, 'maxTokens' | 'choices'>;
  /** The request's body. */
  readonly text: string;
  readonly price: Price | undefined;
  /** The most tokens that the provider's own settings ask for, where the request says nothing. */
  readonly defaultMaxTokens?: number | undefined;
}

/**
 * What a call may use. Money: a token is at least one byte, so that text cannot cost more, and the output is as long as it
 * may be. Tokens: four bytes each, as they mostly are. Of pictures and files sixteen bytes are one token, in both.
 */
export function estimateCall(call: CallToEstimate): Estimate {
  const { endpoint, text, price } = call;
  // Counting tokens is free, and has no answer that costs.
  if (endpoint === 'count_tokens') return { inputTokens: 0, outputTokens: 0, cost: 0 };
  const outputTokens = endpoint === 'embeddings' ? 0 : mostOutputTokens(call);
  const opaque = countBase64(text);
  const words = Buffer.byteLength(text) - opaque;
  const inputTokens = inputOf(words / BYTES_PER_TOKEN + opaque / OPAQUE_BYTES_PER_TOKEN);
  const mostInput = inputOf(words + opaque / OPAQUE_BYTES_PER_TOKEN);
  return { inputTokens, outputTokens, cost: costOf({ input: mostInput, output: outputTokens }, price) };
}

function inputOf(tokens: number): number {
  return Math.min(MOST_INPUT, Math.ceil(tokens));
}

const BYTES_PER_TOKEN = 4;
const OPAQUE_BYTES_PER_TOKEN = 16;
/** No model reads more. */
const MOST_INPUT = 2_000_000;
/** Where neither the request nor the provider says how long an answer may be. */
const DEFAULT_MAX_TOKENS = 4096;

function mostOutputTokens({ request, defaultMaxTokens = DEFAULT_MAX_TOKENS }: CallToEstimate): number {
  return positiveOr(defaultMaxTokens, request.maxTokens) * positiveOr(1, request.choices);
}

/** A request that asks for less than nothing must not look cheap. */
function positiveOr(fallback: number, value: number | undefined): number {
  return value !== undefined && value > 0 ? value : fallback;
}

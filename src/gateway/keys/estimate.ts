import { costOf, type Price } from '../../models/spending/cost.ts';
import type { Estimate } from '../ports.ts';
import type { OfferedModel } from '../upstream/upstream.ts';
import type { EndpointName, WireRequest } from '../wire/codec.ts';

/** What suffices whoever of the candidates answers; without a price where one of them has none. */
export function estimateDearest(
  candidates: readonly OfferedModel[],
  call: Pick<CallToEstimate, 'endpoint' | 'request' | 'text'>,
): Estimate {
  return candidates
    .map(({ provider: { pricing, defaults } }) =>
      estimateCall({ ...call, price: pricing, defaultMaxTokens: defaults.maxTokens }),
    )
    .reduce((one, other) => ({
      inputTokens: Math.max(one.inputTokens, other.inputTokens),
      outputTokens: Math.max(one.outputTokens, other.outputTokens),
      cost: one.cost === null || other.cost === null ? null : Math.max(one.cost, other.cost),
    }));
}

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
  const { endpoint, request, text, price, defaultMaxTokens = DEFAULT_MAX_TOKENS } = call;
  // Counting tokens is free, and has no answer that costs.
  if (endpoint === 'count_tokens') return { inputTokens: 0, outputTokens: 0, cost: 0 };
  const most = positiveOr(defaultMaxTokens, request.maxTokens) * positiveOr(1, request.choices);
  const outputTokens = endpoint === 'embeddings' ? 0 : most;
  const opaque = countBase64(text);
  const words = Buffer.byteLength(text) - opaque;
  const inputOf = (tokens: number) => Math.min(MOST_INPUT, Math.ceil(tokens));
  const inputTokens = inputOf(words / BYTES_PER_TOKEN + opaque / OPAQUE_BYTES_PER_TOKEN);
  const mostInput = inputOf(words + opaque / OPAQUE_BYTES_PER_TOKEN);
  return { inputTokens, outputTokens, cost: costOf({ input: mostInput, output: outputTokens }, price) };
}

const BYTES_PER_TOKEN = 4;
const OPAQUE_BYTES_PER_TOKEN = 16;
const MOST_INPUT = 2_000_000;
/** Where neither the request nor the provider says how long an answer may be. */
const DEFAULT_MAX_TOKENS = 4096;

/** A request that asks for less than nothing must not look cheap. */
function positiveOr(fallback: number, value: number | undefined): number {
  return value !== undefined && value > 0 ? value : fallback;
}

/** How many characters of a text stand in runs of Base64 that are at least 1,024 long: pictures and files, hardly ever words. */
export function countBase64(text: string): number {
  let count = 0;
  // A run that long covers one of these places at least.
  for (let at = 0; at < text.length; at += SHORTEST_RUN) {
    if (!isDigit(text.charCodeAt(at))) continue;
    const start = endOfRun(text, at, -1) + 1;
    const end = endOfRun(text, at, 1);
    if (end - start < SHORTEST_RUN) continue;
    count += end - start;
    // The next place to look at is the first one behind it.
    at = end - (end % SHORTEST_RUN);
  }
  return count;
}

const SHORTEST_RUN = 1024;

/** The first place from there on, in that direction, that is no digit of Base64. */
function endOfRun(text: string, from: number, step: 1 | -1): number {
  let at = from;
  while (at >= 0 && at < text.length && isDigit(text.charCodeAt(at))) at += step;
  return at;
}

function isDigit(code: number): boolean {
  return digits[code] === 1;
}

const digits = new Uint8Array(128);
for (const digit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=') {
  digits[digit.charCodeAt(0)] = 1;
}

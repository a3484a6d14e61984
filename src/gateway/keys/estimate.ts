import { costOf, type Price } from '../../models/spending/cost.ts';
import type { Estimate } from '../ports.ts';
import type { OfferedModel } from '../upstream/upstream.ts';
import type { EndpointName, WireRequest } from '../wire/codec.ts';

/** Returns the maximum over all candidates. The cost is null if one of them has no price. */
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
  readonly text: string;
  readonly price: Price | undefined;
  /** The provider's own limit on output tokens, used if the request has none. */
  readonly defaultMaxTokens?: number | undefined;
}

/**
 * The cost counts one token per byte and the maximum output, the tokens four bytes per token. Both count 16 bytes of
 * Base64 per token.
 */
export function estimateCall(call: CallToEstimate): Estimate {
  const { endpoint, request, text, price, defaultMaxTokens = DEFAULT_MAX_TOKENS } = call;
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
/** Used if neither the request nor the provider limits the output. */
const DEFAULT_MAX_TOKENS = 4096;

function positiveOr(fallback: number, value: number | undefined): number {
  return value !== undefined && value > 0 ? value : fallback;
}

/** Counts the characters in Base64 runs of at least 1,024. Such runs are images and files, hardly ever words. */
export function countBase64(text: string): number {
  let count = 0;
  // Every run of that length covers at least one of these positions.
  for (let at = 0; at < text.length; at += SHORTEST_RUN) {
    if (!isDigit(text.charCodeAt(at))) continue;
    const start = endOfRun(text, at, -1) + 1;
    const end = endOfRun(text, at, 1);
    if (end - start < SHORTEST_RUN) continue;
    count += end - start;
    at = end - (end % SHORTEST_RUN);
  }
  return count;
}

const SHORTEST_RUN = 1024;

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

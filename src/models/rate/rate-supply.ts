import type { RateLimit } from '../../config/config.ts';

/** Requests, and tokens of requests and answers together. */
export interface Amounts {
  readonly requests: number;
  readonly tokens: number;
}

/** What was asked of a supply: it was given, or is to be asked for again, for want of what `limit` names. */
export type Drawn =
  | { readonly given: Amounts }
  | { readonly waitMs: number; readonly limit: keyof typeof limitNames };

/** Each limit as config files call it. */
export const limitNames = {
  requests: 'rate_limit.requests_per_minute or rps',
  tokens: 'rate_limit.tokens_per_minute',
  hold: 'what the API asked for with Retry-After',
} as const;

/** A bucket that fills at the rate of a limit. Everything may reject with STORE_FAILED. */
export interface RateSupply {
  /** Takes what is needed and up to `ahead` more, or nothing. What is more than a full bucket is owed to it. */
  draw(need: Amounts): Promise<Drawn>;
  /** Puts back what was not used; below zero, takes what was used beyond. */
  giveBack(amounts: Amounts): Promise<void>;
  /** Nothing is given for so long. */
  hold(ms: number): Promise<void>;
  /** What there is a limit of. */
  readonly limit: RateLimit;
  /** How long what was taken ahead may be used. */
  readonly leaseMs: number;
}

/** What a bucket holds at most: its `burst`, or ten seconds' worth, and one at least. */
export function fullOf({ requestsPerMinute, burst, tokensPerMinute }: RateLimit): Amounts {
  const most = (perMinute: number | undefined) =>
    perMinute === undefined ? Number.POSITIVE_INFINITY : Math.max(1, perMinute / BURSTS_PER_MINUTE);
  return { requests: burst ?? most(requestsPerMinute), tokens: most(tokensPerMinute) };
}

const BURSTS_PER_MINUTE = 6;

/** A bucket of this process, by the clock that nobody sets. */
export function createLocalSupply(limit: RateLimit): RateSupply {
  const full = fullOf(limit);
  let requests = full.requests;
  let tokens = full.tokens;
  let filledAt = performance.now();
  let heldUntil = Number.NEGATIVE_INFINITY;
  const fill = () => {
    const minutes = (performance.now() - filledAt) / 60_000;
    requests = Math.min(full.requests, requests + minutes * (limit.requestsPerMinute ?? 0));
    tokens = Math.min(full.tokens, tokens + minutes * (limit.tokensPerMinute ?? 0));
    filledAt = performance.now();
  };
  return {
    ...{ limit, leaseMs: 0 },
    draw: async (need) => {
      fill();
      const holdMs = heldUntil - performance.now();
      if (holdMs > 0) return { waitMs: holdMs, limit: 'hold' };
      const lack = {
        requests: Math.min(need.requests, full.requests) - requests,
        tokens: Math.min(need.tokens, full.tokens) - tokens,
      };
      if (need.requests > 0 && lack.requests > 0)
        return { waitMs: waitFor(lack.requests, limit.requestsPerMinute), limit: 'requests' };
      if (need.tokens > 0 && lack.tokens > 0)
        return { waitMs: waitFor(lack.tokens, limit.tokensPerMinute), limit: 'tokens' };
      requests -= need.requests;
      tokens -= need.tokens;
      return { given: need };
    },
    giveBack: async (amounts) => {
      fill();
      requests += amounts.requests;
      tokens += amounts.tokens;
    },
    hold: async (ms) => {
      heldUntil = Math.max(heldUntil, performance.now() + ms);
    },
  };
}

function waitFor(lack: number, perMinute = 1): number {
  return Math.ceil((lack * 60_000) / perMinute);
}

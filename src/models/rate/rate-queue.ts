import PQueue from 'p-queue';
import { RuntimeError } from '../../base/errors.ts';
import { whenAborted } from '../../base/time/async.ts';
import { sleep } from '../../base/time/deadline.ts';
import type { RateLimit, StreamLimitsConfig } from '../../config/config.ts';

/** Starts the calls of one provider one after another, within its rate limit. */
export interface RateQueue {
  /**
   * Waits for the turn of a call that may use `tokens`. Rejects with the signal's reason, with STORE_FAILED, or with
   * PROVIDER_TIMEOUT, which names the limit. Takes nothing if it rejects.
   */
  take(tokens: number, signal: AbortSignal): Promise<Turn>;
  close(): Promise<void>;
}

export interface Turn {
  /** Reports the tokens used. Undefined: unknown, so the estimate counts. Only the first call counts. */
  settle(tokens: number | undefined): void;
  hold(ms: number): void;
}

interface Waiting {
  readonly tokens: number;
  readonly signal: AbortSignal;
  readonly begin: (turn: Turn) => void;
  readonly fail: (thrown: unknown) => void;
  limit?: keyof typeof limitNames;
}

export function createRateQueue(provider: string, supply: RateSupply): RateQueue {
  const waiting: Waiting[] = [];
  const costOfOne = supply.limit.requestsPerMinute === undefined ? 0 : 1;
  const countsTokens = supply.limit.tokensPerMinute !== undefined;
  let held = { requests: 0, tokens: 0 };
  let drawnAt = performance.now();
  let isServing = false;
  let returning: NodeJS.Timeout | undefined;
  /** Never rejects: the bucket refills by itself. */
  const giveBack = async () => {
    clearTimeout(returning);
    returning = undefined;
    const amounts = held;
    held = { requests: 0, tokens: 0 };
    if (amounts.requests !== 0 || amounts.tokens !== 0) await supply.giveBack(amounts).catch(() => {});
  };
  const giveBackLater = () => {
    returning ??= setTimeout(() => void giveBack(), supply.leaseMs).unref();
  };
  const turnFor = (estimate: number): Turn => {
    let isSettled = false;
    return {
      settle: (tokens) => {
        if (isSettled) return;
        isSettled = true;
        if (!countsTokens) return;
        held = { ...held, tokens: held.tokens + estimate - (tokens ?? estimate) };
        giveBackLater();
      },
      hold: (ms) => {
        drawnAt = Number.NEGATIVE_INFINITY;
        void supply.hold(ms).catch(() => {});
      },
    };
  };
  const tryFirst = async (first: Waiting): Promise<Drawn | undefined> => {
    if (performance.now() - drawnAt > supply.leaseMs) await giveBack();
    const need = {
      requests: Math.max(0, costOfOne - held.requests),
      tokens: Math.max(0, first.tokens - held.tokens),
    };
    if (need.requests > 0 || need.tokens > 0) {
      const askedAt = performance.now();
      const drawn = await supply.draw(need);
      if ('waitMs' in drawn) return drawn;
      drawnAt = askedAt;
      held = {
        requests: held.requests + drawn.given.requests,
        tokens: held.tokens + drawn.given.tokens,
      };
    }
    // The caller may have aborted in the meantime. What was taken for it then serves another call.
    if (waiting[0] !== first) return undefined;
    waiting.shift();
    held = { requests: held.requests - costOfOne, tokens: held.tokens - first.tokens };
    first.begin(turnFor(first.tokens));
    return undefined;
  };
  const serve = async () => {
    if (isServing) return;
    isServing = true;
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      try {
        const drawn = await tryFirst(first);
        if (drawn === undefined || !('waitMs' in drawn)) continue;
        first.limit = drawn.limit;
        // Room may come sooner than at the limit's rate, because others return what they did not use.
        await sleep(Math.min(drawn.waitMs, ASK_AGAIN_MS), first.signal).catch(() => {});
      } catch (error) {
        if (waiting[0] === first) waiting.shift();
        first.fail(error);
      }
    }
    isServing = false;
    giveBackLater();
  };
  return {
    take: (tokens, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const forget = whenAborted(signal, () => {
          const place = waiting.indexOf(entry);
          if (place === -1) return;
          waiting.splice(place, 1);
          reject(withLimit(signal.reason, provider, waiting[0]?.limit ?? entry.limit));
        });
        const end =
          <Value>(settle: (value: Value) => void) =>
          (value: Value) => {
            forget();
            settle(value);
          };
        const entry: Waiting = {
          tokens: countsTokens ? tokens : 0,
          signal,
          begin: end(resolve),
          fail: end(reject),
        };
        waiting.push(entry);
        void serve();
      }),
    close: giveBack,
  };
}

const ASK_AGAIN_MS = 1_000;

function withLimit(reason: unknown, provider: string, limit: keyof typeof limitNames = 'requests'): unknown {
  if (!(reason instanceof RuntimeError) || reason.code !== 'PROVIDER_TIMEOUT') return reason;
  const name = limitNames[limit];
  return new RuntimeError(
    'PROVIDER_TIMEOUT',
    `provider "${provider}" cannot take the call in time, because of ${name}`,
    {
      hint: 'Raise the limit, or request_timeout, or make fewer calls at once.',
      details: { limit: name, retryable: false },
    },
  );
}

/** Requests, and tokens of requests and answers together. */
export interface Amounts {
  readonly requests: number;
  readonly tokens: number;
}

export type Drawn =
  | { readonly given: Amounts }
  | { readonly waitMs: number; readonly limit: keyof typeof limitNames };

const limitNames = {
  requests: 'rate_limit.requests_per_minute or rps',
  tokens: 'rate_limit.tokens_per_minute',
  hold: 'what the API asked for with Retry-After',
} as const;

/** A bucket that fills at the rate of a limit. Every method may reject with STORE_FAILED. */
export interface RateSupply {
  /** Takes `need` and possibly more in advance, or nothing. An amount above a full bucket becomes debt. */
  draw(need: Amounts): Promise<Drawn>;
  /** Returns unused amounts. A negative amount takes what was used beyond the estimate. */
  giveBack(amounts: Amounts): Promise<void>;
  hold(ms: number): Promise<void>;
  readonly limit: RateLimit;
  /** The time for which amounts taken ahead are valid. */
  readonly leaseMs: number;
}

/** The capacity of a bucket: its `burst`, or ten seconds' worth, and at least one. */
export function fullOf({ requestsPerMinute, burst, tokensPerMinute }: RateLimit): Amounts {
  const most = (perMinute: number | undefined) =>
    perMinute === undefined ? Number.POSITIVE_INFINITY : Math.max(1, perMinute / BURSTS_PER_MINUTE);
  return { requests: burst ?? most(requestsPerMinute), tokens: most(tokensPerMinute) };
}

const BURSTS_PER_MINUTE = 6;

/** A bucket of this process, by the monotonic clock. */
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

export interface StreamLimits {
  /** Waits for a stream slot. The result frees it. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>;
  /** Returns whether the retry budget has room for one more, and counts it. */
  mayRetry(): boolean;
}

export function createStreamLimits(config: StreamLimitsConfig, now = () => performance.now()): StreamLimits {
  const { maxConcurrent = Number.POSITIVE_INFINITY, retry } = config;
  const queue = new PQueue({ concurrency: maxConcurrent });
  const take = async (signal: AbortSignal) => {
    signal.throwIfAborted();
    // The signal ends only the wait. A stream keeps its slot until it frees it.
    const waiting = new AbortController();
    const forget = whenAborted(signal, () => waiting.abort(signal.reason));
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    await new Promise<void>((enter, refuse) => {
      const hold = async () => {
        forget();
        enter();
        await left;
      };
      queue.add(hold, { signal: waiting.signal }).catch(refuse);
    });
    return leave;
  };
  const { ratePerSecond = 0, burst = 0 } = retry?.budget ?? {};
  let tokens = burst;
  let filledAt = now();
  const mayRetry = () => {
    if (ratePerSecond <= 0 || burst <= 0) return true;
    const at = now();
    tokens = Math.min(burst, tokens + ((at - filledAt) / 1000) * ratePerSecond);
    filledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
  return { take, mayRetry };
}

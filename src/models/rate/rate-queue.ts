import { RuntimeError } from '../../base/errors.ts';
import { sleep } from '../../base/time/deadline.ts';
import { whenAborted } from '../../base/time/when-aborted.ts';
import { type Drawn, limitNames, type RateSupply } from './rate-supply.ts';

/** The calls of one provider, which begin one after another as its limit has room for them. */
export interface RateQueue {
  /**
   * Waits for the turn of a call that may use so many tokens. Rejects with the signal's reason, or PROVIDER_TIMEOUT, which names the
   * limit, where that is its deadline's; nothing is taken then. STORE_FAILED.
   */
  take(tokens: number, signal: AbortSignal): Promise<Turn>;
  /** Gives back what was taken ahead. Never rejects. */
  close(): Promise<void>;
}

/** The right to make one call. */
export interface Turn {
  /** Tells what the call has used; undefined: nobody knows, and what was estimated counts. Only the first time counts. */
  settle(tokens: number | undefined): void;
  /** The API asks everybody to wait for so long. */
  hold(ms: number): void;
}

interface Waiting {
  readonly tokens: number;
  readonly signal: AbortSignal;
  readonly begin: (turn: Turn) => void;
  readonly fail: (thrown: unknown) => void;
  /** What it waits for, once that is known. */
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
  /** Never rejects: what cannot be given back fills itself up again. */
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
        // What was taken ahead waits too.
        drawnAt = Number.NEGATIVE_INFINITY;
        void supply.hold(ms).catch(() => {});
      },
    };
  };
  /** Whether the first one's turn has come; otherwise how long to wait. */
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
    // It may have been given up meanwhile, and what was taken for it is then somebody else's.
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
        // Room may come sooner than at the limit's own rate: others give back what they did not use.
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

/** A deadline that passed before the call began says what the call has waited for. */
function withLimit(reason: unknown, provider: string, limit: keyof typeof limitNames = 'requests'): unknown {
  if (!(reason instanceof RuntimeError) || reason.code !== 'PROVIDER_TIMEOUT') return reason;
  const name = limitNames[limit];
  return new RuntimeError(
    'PROVIDER_TIMEOUT',
    `provider "${provider}" has no room for the call in time, because of ${name}`,
    {
      hint: 'Raise the limit, or request_timeout, or make fewer calls at once.',
      details: { limit: name, retryable: false },
    },
  );
}

import { formatCount } from '../../base/text/phrases.ts';
import { RefusedCall, refusal, refuse } from '../wire/refusal.ts';

// The messages never quote the presented key.

/** 401: the key is missing, malformed, unknown or revoked. */
export function invalidKey(isMissing: boolean): RefusedCall {
  const message = isMissing
    ? 'You did not provide an API key. Send yours as a bearer token or in x-api-key.'
    : 'Incorrect API key provided.';
  return refuse(401, 'invalid_api_key', message);
}

/** 403. */
export function expiredKey(): RefusedCall {
  return forbidden('api_key_expired', 'This API key has expired.');
}

/** 403: the key's hook set is missing from the config, so the required hooks are unknown. */
export function unguardedKey(): RefusedCall {
  return forbidden('api_key_unusable', 'The hook set of this API key is not in the config of the gateway.');
}

export function forbiddenModel(): RefusedCall {
  return forbidden('model_not_allowed', 'This API key may not call that model.', 'model');
}

/** 403: calls without a price cannot be counted against a budget. */
export function unpricedModel(): RefusedCall {
  return forbidden(
    'model_without_price',
    'This API key has a budget in money, but the gateway has no price for that model.',
    'model',
  );
}

function forbidden(code: string, message: string, param?: string): RefusedCall {
  return refuse(403, code, message, { param });
}

/** 429: the limit per minute is reached. */
export function rateLimited(what: string, limit: number, retryAfter: number): RefusedCall {
  return refuse(
    429,
    'rate_limit_exceeded',
    `Rate limit reached: ${formatCount(limit, what.replace(/s$/, ''))} a minute. Try again in ${retryAfter} s.`,
    { retryAfter, isRetryable: true },
  );
}

/** 429: the call alone exceeds the limit per minute. */
export function tooLarge(tokens: number, limit: number): RefusedCall {
  return refuse(
    429,
    'rate_limit_exceeded',
    `Request too large: about ${tokens} tokens, and this API key may use ${limit} a minute.`,
  );
}

export function tooManyCalls(limit: number): RefusedCall {
  return refuse(
    429,
    'concurrency_limit_exceeded',
    `This API key has ${limit} calls in progress, and may not have more at once.`,
    { retryAfter: 1, isRetryable: true },
  );
}

/** 429: the budget is spent. */
export function spentBudget(period: string, secondsLeft: number | undefined): RefusedCall {
  return refuse(
    429,
    'insufficient_quota',
    `The remaining budget of this API key (${period}) is too small for this request.`,
    { retryAfter: secondsLeft },
  );
}

/** 429: running calls reserve the rest of the budget, and may use less. */
export function heldBudget(period: string): RefusedCall {
  return refuse(
    429,
    'insufficient_quota',
    `The remaining budget of this API key (${period}) is reserved for calls in progress.`,
    { retryAfter: 1, isRetryable: true },
  );
}

/** 503: keys or limits cannot be read or counted, so every call is refused. `cause` is for the log. */
export function uncountable(cause: unknown): RefusedCall {
  return new RefusedCall(
    refusal(503, 'store_failed', 'The gateway cannot check or count calls at the moment.', {
      retryAfter: 5,
      isRetryable: true,
    }),
    cause,
  );
}

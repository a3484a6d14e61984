import type { ProviderConfig } from '../../config/config.ts';
import type { StreamLimits } from '../rate/stream-limits.ts';
import type { Limits } from './call-limits.ts';
import { unusableError } from './credential.ts';

/** The request timeout where the config gives none. */
const DEFAULT_TIMEOUT_MS = 300_000;

/** The deadline and retries of a provider’s calls. Throws PROVIDER_UNUSABLE. */
export function readLimits(config: ProviderConfig, retries: number, streams?: StreamLimits): Limits {
  const timeoutMs = config.requestTimeoutMs ?? DEFAULT_TIMEOUT_MS;
  const own = {
    retries: readCount(config, 'max_retries', { max: 10, fallback: retries }),
    retryBaseMs: readCount(config, 'retry_base_ms', { max: 60_000, fallback: 500 }),
    maxWaitMs: MAX_WAIT_MS,
  };
  const { idleMs = timeoutMs, retry } = config.streams ?? {};
  const ofStreams = retry && {
    ...{ retries: retry.retries, retryBaseMs: retry.initialDelayMs, maxWaitMs: retry.maxDelayMs },
    mayRetry: () => streams?.mayRetry() ?? true,
  };
  return { timeoutMs, idleMs, retry: own, streamRetry: ofStreams ?? own, takePlace: streams?.take };
}

const MAX_WAIT_MS = 60_000;

function readCount(
  { id, additionalConfig }: ProviderConfig,
  key: string,
  { max, fallback }: { readonly max: number; readonly fallback: number },
): number {
  const value = additionalConfig[key] ?? fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw unusableError(id, `additional_config.${key} must be a whole number from 0 to ${max}`);
}

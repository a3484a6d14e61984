import type { KeyRecord, SecretRecord, UsageRecord } from '../../store/keys/key.ts';
import { dollarsOf } from './money.ts';

/** A key as people and programs are shown it; never the key itself. Times in ISO 8601, money in US dollars. */
export interface KeyDocument {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'expired' | 'revoked';
  /** null: all. */
  readonly models: readonly string[] | null;
  /** The name of a hook set; null: all hooks. */
  readonly hooks: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent: number | null;
  readonly budget: {
    readonly day: number | null;
    readonly month: number | null;
    readonly total: number | null;
  };
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** The texts by which it can be presented at this time: how they begin, and when they end. */
  readonly secrets: readonly {
    readonly begins: string;
    readonly created_at: string;
    readonly expires_at: string | null;
  }[];
}

/** What a key has used, in US dollars. */
export interface UsageDocument {
  readonly period: string;
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  /** Calls that were counted by what had been set aside for them. */
  readonly estimated: number;
}

/** The document of a key at that time. */
export function documentOf(key: KeyRecord, secrets: readonly SecretRecord[], at: number): KeyDocument {
  const { limits } = key;
  return {
    ...{ id: key.id, name: key.name, status: statusOf(key, at), models: key.models, hooks: key.hooks },
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent: limits.concurrent,
    budget: {
      day: dollarsOrNull(limits.budgetDay),
      month: dollarsOrNull(limits.budgetMonth),
      total: dollarsOrNull(limits.budgetTotal),
    },
    created_at: timeOf(key.createdAt),
    expires_at: timeOrNull(key.expiresAt),
    revoked_at: timeOrNull(key.revokedAt),
    secrets: secrets
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
      .map(({ hint, createdAt, expiresAt }) => ({
        begins: hint,
        created_at: timeOf(createdAt),
        expires_at: timeOrNull(expiresAt),
      })),
  };
}

/** The document of a period. */
export function usageDocumentOf(usage: UsageRecord): UsageDocument {
  const { period, calls, inputTokens, outputTokens, cost, estimated } = usage;
  return {
    ...{ period, calls, input_tokens: inputTokens, output_tokens: outputTokens },
    ...{ cost: dollarsOf(cost), estimated },
  };
}

function statusOf({ revokedAt, expiresAt }: KeyRecord, at: number): KeyDocument['status'] {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && at >= expiresAt ? 'expired' : 'active';
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : timeOf(at);
}

function dollarsOrNull(nanos: number | null): number | null {
  return nanos === null ? null : dollarsOf(nanos);
}

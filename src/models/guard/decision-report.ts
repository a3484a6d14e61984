import {
  isJSONObject,
  type JSONObject,
  type LanguageModelV4Usage,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { Decision } from '../../contract/hook.ts';
import { keepTextlessMetadata } from '../messages/rebuilt.ts';

/** The decisions of one model call. `after` is absent if after_call did not run. */
export interface Decisions {
  readonly before: Decision;
  readonly after?: Decision;
  readonly windows?: number;
}

/**
 * `providerMetadata.signalbox`: first the decisive decision (a denial, else the change, else the last), then the
 * metadata of all hooks and the decision of each phase.
 */
export function reportDecisions({ before, after, windows }: Decisions): { readonly signalbox: JSONObject } {
  const { phase, decision } = mainDecision(before, after);
  const metadata = isAffirmative(decision)
    ? { ...metadataOf(before), ...(after && metadataOf(after)) }
    : metadataOf(decision);
  const { verdict, hook, reason, enforced } = decision;
  return {
    signalbox: {
      phase,
      verdict,
      hook,
      reason,
      enforced,
      metadata,
      before_call: reportOne(before),
      after_call: after === undefined ? null : reportOne(after),
      ...(windows !== undefined && { windows }),
    },
  };
}

export function withReport(
  metadata: SharedV4ProviderMetadata | undefined,
  decisions: Decisions,
): SharedV4ProviderMetadata {
  return { ...metadata, ...reportDecisions(decisions) };
}

export function withTextlessReport(
  metadata: SharedV4ProviderMetadata | undefined,
  decisions: Decisions,
): SharedV4ProviderMetadata {
  return withReport(keepTextlessMetadata('answer', metadata).providerMetadata, decisions);
}

/** Removes the provider's raw data, which may quote the answer. */
export function tokenCounts({ inputTokens, outputTokens }: LanguageModelV4Usage): LanguageModelV4Usage {
  return { inputTokens, outputTokens };
}

export const zeroUsage: LanguageModelV4Usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

export const unknownUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function mainDecision(before: Decision, after: Decision | undefined) {
  const isAfter = after !== undefined && (after.verdict !== 'allow' || before.verdict === 'allow');
  return isAfter
    ? ({ phase: 'after_call', decision: after } as const)
    : ({ phase: 'before_call', decision: before } as const);
}

function isAffirmative({ verdict }: Decision): boolean {
  return verdict === 'allow' || verdict === 'modify';
}

function reportOne(decision: Decision): JSONObject {
  const { verdict, hook, reason, enforced } = decision;
  return { verdict, hook, reason, enforced, metadata: metadataOf(decision) };
}

function metadataOf({ metadata }: Decision): JSONObject {
  const { value } = metadata;
  return isJSONObject(value) ? value : {};
}

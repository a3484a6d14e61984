import type { JSONValue, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isObject } from '../../base/json/json.ts';
import { isSealed } from '../../base/text/sealed.ts';

/** What the metadata belongs to: the answer itself, or a kind of its parts. */
export type MetadataOwner = 'answer' | 'reasoning' | 'tool-call' | 'tool-result' | 'file';

/**
 * What of a provider's metadata may stand beside an answer that was changed, as members to spread: those that are
 * known to hold no text, each in its own form. All else could quote what was taken out, and no hook has seen it.
 */
export function keepTextlessMetadata(
  place: MetadataOwner,
  metadata: SharedV4ProviderMetadata | undefined,
): { readonly providerMetadata?: SharedV4ProviderMetadata } {
  const kept = Object.entries(metadata ?? {}).flatMap(([provider, members]) => {
    const known = keepMembers(members, textlessMembers[place][metadataFamilies[provider] ?? ''] ?? {});
    return known === undefined ? [] : [[provider, known] as const];
  });
  return kept.length === 0 ? {} : { providerMetadata: Object.fromEntries(kept) };
}

/**
 * Tests whether a string is an id, a date or encrypted and so holds no text; or tests for an object's
 * members.
 */
type ValueTest = ((value: string) => boolean) | { readonly [member: string]: ValueTest };
type MemberTests = { readonly [member: string]: ValueTest };

/** Names and ids that APIs and callers give. */
const isId = (value: string) => /^[\w.:-]{1,128}$/.test(value);
const isDate = (value: string) => /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:\d\d)$/.test(value);

const calledBy: MemberTests = { caller: { type: isId, toolId: isId } };
const signed: MemberTests = { thoughtSignature: isSealed };

const textlessMembers: Readonly<Record<MetadataOwner, Readonly<Record<string, MemberTests>>>> = {
  answer: { anthropic: { container: { id: isId, expiresAt: isDate } } },
  // Without its signature a thought cannot be sent back, and Anthropic refuses a round of tools without its thought.
  reasoning: { anthropic: { signature: isSealed, redactedData: isSealed }, google: signed },
  'tool-call': {
    anthropic: { ...calledBy, type: isId, serverName: isId, toolsetName: isId },
    google: { ...signed, serverToolCallId: isId, serverToolType: isId },
  },
  'tool-result': {
    anthropic: { ...calledBy, type: isId, serverName: isId },
    google: { ...signed, serverToolCallId: isId, serverToolType: isId },
  },
  file: { google: signed },
};

/** The names under which packages put their metadata, and whose members they are. */
const metadataFamilies: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  google: 'google',
  vertex: 'google',
  googleVertex: 'google',
};

function keepMembers(value: unknown, forms: MemberTests): Record<string, JSONValue> | undefined {
  if (!isObject(value)) return undefined;
  const kept = Object.entries(forms).flatMap(([name, form]): [string, JSONValue][] => {
    const member = value[name];
    if (typeof form === 'object') {
      const inner = keepMembers(member, form);
      return inner === undefined ? [] : [[name, inner]];
    }
    return typeof member === 'string' && form(member) ? [[name, member]] : [];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

import type { JSONValue, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isObject } from '../../json/json.ts';

/** Where metadata stands: beside the answer itself, or beside a part of it. */
export type Place = 'answer' | 'reasoning' | 'tool-call' | 'tool-result' | 'file';

/**
 * What of a provider's metadata may stand beside an answer that was changed, as members to spread: those that are
 * known to hold no text, each in its own form. All else could quote what was taken out, and no hook has seen it.
 */
export function keepMetadata(
  place: Place,
  metadata: SharedV4ProviderMetadata | undefined,
): { readonly providerMetadata?: SharedV4ProviderMetadata } {
  const kept = Object.entries(metadata ?? {}).flatMap(([provider, members]) => {
    const known = keepMembers(members, textless[place][families[provider] ?? ''] ?? {});
    return known === undefined ? [] : [[provider, known] as const];
  });
  return kept.length === 0 ? {} : { providerMetadata: Object.fromEntries(kept) };
}

/** Whether a value has the form in which its member holds no text; or the members of an object. */
type Form = ((value: string) => boolean) | { readonly [member: string]: Form };
type Forms = { readonly [member: string]: Form };

/** Names and ids that APIs and callers give. */
const isId = (value: string) => /^[\w.:-]{1,128}$/.test(value);
const isDate = (value: string) => /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:\d\d)$/.test(value);

/** Encrypted bytes, which their provider alone can read. Base64 of a text is one, and no such thing. */
function isSealed(value: string): boolean {
  if (!/^[\w+/-]{22,}={0,2}$/.test(value)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64'));
    return false;
  } catch {
    return true;
  }
}

const calledBy: Forms = { caller: { type: isId, toolId: isId } };
const signed: Forms = { thoughtSignature: isSealed };

const textless: Readonly<Record<Place, Readonly<Record<string, Forms>>>> = {
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
const families: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  google: 'google',
  vertex: 'google',
  googleVertex: 'google',
};

function keepMembers(value: JSONValue | undefined, forms: Forms): Record<string, JSONValue> | undefined {
  if (!isObject(value)) return undefined;
  const kept = Object.entries(forms).flatMap(([name, form]): [string, JSONValue][] => {
    const member = value[name];
    if (typeof form === 'object') {
      const inner = keepMembers(isObject(member) ? (member as Record<string, JSONValue>) : undefined, form);
      return inner === undefined ? [] : [[name, inner]];
    }
    return typeof member === 'string' && form(member) ? [[name, member]] : [];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

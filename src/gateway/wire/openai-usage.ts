import type { TokenUsage } from './codec.ts';
import type { Leftovers } from './leftovers.ts';
import type { Place } from './place.ts';

/** The tokens that `usage` of an answer counts; undefined without figures. Members that are no known figures are left over. */
export function readOpenAiUsage(
  usage: Place | undefined,
  leftovers: Leftovers,
  path: string,
): TokenUsage | undefined {
  if (usage?.kind !== 'object') return undefined;
  leftovers.addMembers(usage, figuresOf(usage), path);
  for (const [key, details] of usage.members) {
    if (details.kind !== 'object' || !figureNames.has(key)) continue;
    leftovers.addMembers(details, figuresOf(details), `${path}.${key}`);
  }
  const input = numberAt(usage, 'prompt_tokens');
  const output = numberAt(usage, 'completion_tokens');
  if (input === undefined && output === undefined) return undefined;
  const details = usage.at('prompt_tokens_details');
  const cachedInput = details && numberAt(details, 'cached_tokens');
  return { input: input ?? 0, output: output ?? 0, ...(cachedInput !== undefined && { cachedInput }) };
}

/** The members that are known figures: numbers, and objects that are looked through one by one. */
function figuresOf(usage: Place): ReadonlySet<string> {
  const known = [...usage.members].filter(
    ([key, { kind }]) => figureNames.has(key) && kind !== 'string' && kind !== 'array',
  );
  return new Set(known.map(([key]) => key));
}

function numberAt(place: Place, key: string): number | undefined {
  const value = place.at(key);
  return value?.kind === 'number' ? Number(value.value) : undefined;
}

const figureNames: ReadonlySet<string> = new Set([
  'accepted_prediction_tokens',
  'audio_tokens',
  'cache_creation_tokens',
  'cache_write_tokens',
  'cached_tokens',
  'completion_time',
  'completion_tokens',
  'completion_tokens_details',
  'cost',
  'image_tokens',
  'is_byok',
  'prompt_cache_hit_tokens',
  'prompt_cache_miss_tokens',
  'prompt_time',
  'prompt_tokens',
  'prompt_tokens_details',
  'queue_time',
  'reasoning_tokens',
  'rejected_prediction_tokens',
  'text_tokens',
  'total_time',
  'total_tokens',
  'video_tokens',
]);

import type { TokenUsage } from './codec.ts';
import { numberAt, type Place } from './place.ts';
import { all, type Members, type Shape } from './shape.ts';

/** What OpenAI-compatible servers count in `usage`, and in its `…_details`. */
const figures: Members = all(
  'number',
  'accepted_prediction_tokens',
  'audio_tokens',
  'cache_creation_tokens',
  'cache_write_tokens',
  'cached_tokens',
  'completion_time',
  'completion_tokens',
  'cost',
  'image_tokens',
  'is_byok',
  'prompt_cache_hit_tokens',
  'prompt_cache_miss_tokens',
  'prompt_time',
  'prompt_tokens',
  'queue_time',
  'reasoning_tokens',
  'rejected_prediction_tokens',
  'text_tokens',
  'total_time',
  'total_tokens',
  'video_tokens',
);

export const openAiUsage: Shape = {
  members: {
    ...figures,
    prompt_tokens_details: { members: figures },
    completion_tokens_details: { members: figures },
  },
};

/** The tokens that `usage` counts; undefined without figures. */
export function readOpenAiUsage(usage: Place | undefined): TokenUsage | undefined {
  const input = numberAt(usage, 'prompt_tokens');
  const output = numberAt(usage, 'completion_tokens');
  if (input === undefined && output === undefined) return undefined;
  const cachedInput = numberAt(usage?.at('prompt_tokens_details'), 'cached_tokens');
  return { input: input ?? 0, output: output ?? 0, ...(cachedInput !== undefined && { cachedInput }) };
}

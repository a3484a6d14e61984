import { canonicalJson, findDifference } from '../../base/json/equal.ts';
import { sharedPrefixLength } from '../../base/text/shared-prefix.ts';
import type { ModelCallRequest } from './model-call.ts';

/** Where a call first differs from the recorded one that is nearest to it, as a sentence. */
export function describeDifference(call: ModelCallRequest, recorded: readonly ModelCallRequest[]): string {
  const own = recorded.filter(({ provider }) => provider === call.provider);
  if (own.length === 0) return 'none of its calls is recorded';
  const sameModel = own.filter(({ model }) => model === call.model);
  if (sameModel.length === 0) return `recorded is the model ${own[0]?.model}, called is ${call.model}`;
  const sameMode = sameModel.filter(({ mode }) => mode === call.mode);
  if (sameMode.length === 0) return `its calls were recorded ${call.mode === 'stream' ? 'un' : ''}streamed`;
  const path = findDifference(call.request, nearest(call, sameMode).request);
  return `the nearest recorded call differs at ${path ?? 'an unknown place'}`;
}

/** The call whose request begins with the most of what this one begins with. */
function nearest(call: ModelCallRequest, recorded: readonly ModelCallRequest[]): ModelCallRequest {
  const text = canonicalJson(call.request);
  const ranked = recorded
    .map((candidate) => ({ candidate, shared: sharedPrefixLength(text, canonicalJson(candidate.request)) }))
    .toSorted((one, other) => other.shared - one.shared);
  return ranked[0]?.candidate ?? call;
}

import { isObject } from '../json.ts';
import { canonicalJson } from './encode.ts';
import type { Call } from './exchange.ts';

/** Where a call first differs from the recorded one that is nearest to it, as a sentence. */
export function describeDifference(call: Call, recorded: readonly Call[]): string {
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
function nearest(call: Call, recorded: readonly Call[]): Call {
  const text = canonicalJson(call.request);
  const ranked = recorded
    .map((candidate) => ({ candidate, shared: countShared(text, canonicalJson(candidate.request)) }))
    .toSorted((one, other) => other.shared - one.shared);
  return ranked[0]?.candidate ?? call;
}

function countShared(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** The path of the first difference, such as `prompt[2].content[0].text`. */
function findDifference(one: unknown, other: unknown, path = ''): string | undefined {
  if (Array.isArray(one) && Array.isArray(other)) {
    const longer = one.length > other.length ? one : other;
    return firstOf(
      longer.map((_, index) => () => findDifference(one[index], other[index], `${path}[${index}]`)),
    );
  }
  if (isObject(one) && isObject(other)) {
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])].toSorted();
    return firstOf(
      keys.map((key) => () => findDifference(one[key], other[key], path === '' ? key : `${path}.${key}`)),
    );
  }
  return canonicalJson(one ?? null) === canonicalJson(other ?? null) ? undefined : path;
}

function firstOf(searches: readonly (() => string | undefined)[]): string | undefined {
  for (const search of searches) {
    const found = search();
    if (found !== undefined) return found;
  }
  return undefined;
}

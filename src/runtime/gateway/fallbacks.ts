import type { Emit } from '../../contract/event.ts';
import type { FallbackWatch } from '../../gateway/fallback/turn.ts';
import type { OfferedModel } from '../../gateway/upstream/upstream.ts';
import { BREAKER_FAILURES, BREAKER_PAUSE_MS, createBreaker } from '../../models/fallback/breaker.ts';

/** What a gateway remembers of its upstreams' faults; each is told as a warning of its provider. */
export function watchFallbacks(emit: Emit): FallbackWatch {
  const warn = (name: string, message: string) => emit({ type: 'note', name, level: 'warn', message });
  return {
    breaker: createBreaker(),
    onFallback: (from, to, why) => warn(from, `${why.replace(/\.$/, '')}; "${to}" is asked instead`),
    onOpen: (id) =>
      warn(
        id,
        `it has failed ${BREAKER_FAILURES} times in a row: for ${BREAKER_PAUSE_MS / 1000} s others are asked first`,
      ),
  };
}

/** What a gateway does not do with the fallbacks of a model, for people. */
export function fallbackWarnings({ name, provider, fallbacks }: OfferedModel): string[] {
  const asked = new Set(fallbacks.map((each) => each.provider.id));
  const left = (provider.fallback ?? []).filter((id) => !asked.has(id));
  const unpriced = [provider, ...fallbacks.map((each) => each.provider)].filter(
    ({ pricing }) => pricing === undefined,
  );
  return [
    ...left.map(
      (id) =>
        `model "${name}": the fallback "${id}" of "${provider.id}" is not asked: it does not speak its API, or cannot be used`,
    ),
    ...(asked.size > 0 && unpriced.length > 0 && unpriced.length <= asked.size
      ? [
          `model "${name}": keys with a budget may not call it, because ${unpriced.map(({ id }) => `"${id}"`).join(' and ')} of its providers has no pricing`,
        ]
      : []),
  ];
}

import type { FilterLink, Link } from '../../calls/hooks/link.ts';
import { isFilter } from '../../calls/hooks/steps.ts';
import type { ProviderRequest } from '../../contract/provider.ts';
import type { SeenMessages } from '../ports.ts';
import { createHookIdentities } from './hook-identity.ts';
import { findUnjudgedPart, type PartVerdict } from './judged-part.ts';
import type { Memo } from './memo.ts';
import { namesOfPrefixes } from './message-chain.ts';
import { type Shortening, shortenLink } from './shortened-link.ts';

export interface SeenMessagesOptions {
  readonly memo: Pick<Memo, 'isShared' | 'key' | 'marks'>;
  /** By the name of a hook; one that is not there judges all messages. */
  readonly judge: ReadonlyMap<string, 'all' | 'new'>;
}

/** Remembers what hooks of `judge: new` have let pass, for each caller and each version of a hook. */
export function openSeenMessages({ memo, judge }: SeenMessagesOptions): SeenMessages {
  const identities = createHookIdentities(memo);
  const judgesNew = (link: Link): link is FilterLink =>
    isFilter(link) &&
    link.kind === 'provider' &&
    link.phases.includes('before_call') &&
    judge.get(link.name) === 'new';
  return {
    watch: (caller, links) => {
      if (judge.size === 0 || !links.some(judgesNew)) return { links, remember: () => {} };
      const verdicts = new Map<string, PartVerdict>();
      const shorteningOf = ({ name, listener }: FilterLink): Shortening => {
        const namesOf = (request: ProviderRequest) => {
          const judgeName = `${name}\n${identities.of(listener.port.binding)}`;
          return namesOfPrefixes(memo.key, { keyId: caller.keyId ?? '', judge: judgeName }, request);
        };
        const { load } = memo.marks;
        return {
          ...(load && { prepare: async (request) => await load(namesOf(request)) }),
          shorten: (request) => findUnjudgedPart(request, namesOf(request), memo.marks),
          note: (noted) => {
            for (const [prefix, verdict] of noted) verdicts.set(prefix, verdict);
          },
        };
      };
      return {
        links: links.map((link) => (judgesNew(link) ? shortenLink(link, shorteningOf(link)) : link)),
        remember: () => memo.marks.keep([...verdicts]),
      };
    },
  };
}

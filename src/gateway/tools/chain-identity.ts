import { randomUUID } from 'node:crypto';
import type { Link } from '../../calls/hooks/gate.ts';
import { isFilter } from '../../calls/hooks/steps.ts';
import { createHookIdentities } from '../memo/hook-identity.ts';
import type { Memo } from '../memo/memo.ts';

/**
 * Tells the filters that judge results from others, and from themselves after a change. What a hook of another system
 * starts is known to that system's settings alone, so that with such hooks nothing is remembered beyond this process.
 */
export function createChainIdentity(memo: Pick<Memo, 'isShared'>): (links: readonly Link[]) => string {
  const identities = createHookIdentities(memo);
  const process = randomUUID();
  return (links) =>
    JSON.stringify(
      links.flatMap((link): unknown[] => {
        if ('group' in link) return [process, link.group.members.map(({ entry }) => entry)];
        const isJudge = isFilter(link) && link.kind === 'tool' && link.phases.includes('after_execution');
        return isJudge ? [identities.of(link.listener.port.binding)] : [];
      }),
    );
}

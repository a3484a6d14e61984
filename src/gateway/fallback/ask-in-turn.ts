import { isTransientStatus } from '../../models/provider-error.ts';
import type { CallOfCaller } from '../stages.ts';
import { isFaultOfUpstream } from '../upstream/failures.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import { askUpstream } from '../upstream-answer.ts';
import { whenBegun } from './begun-answer.ts';
import type { Turn } from './turn.ts';
import { UpstreamFault } from './upstream-fault.ts';

/**
 * Sends a body to the upstream whose turn it is. Throws UpstreamFault where the next one is to be asked; of the last one its
 * answer, or its RefusedCall, is what the client gets.
 */
export async function askInTurn(call: CallOfCaller, turn: Turn, body: string): Promise<UpstreamAnswer> {
  const answer =
    turn.hasNext === undefined
      ? await askUpstream(call, turn.offered, body)
      : await askWatched(call, { ...turn, hasNext: turn.hasNext }, body);
  call.account.provider = turn.offered.provider.id;
  return answer;
}

type WatchedTurn = Turn & { readonly hasNext: boolean };

async function askWatched(call: CallOfCaller, turn: WatchedTurn, body: string): Promise<UpstreamAnswer> {
  const { services, client } = call;
  const { id } = turn.offered.provider;
  const { breaker, onOpen } = services.fallback;
  const fail = () => {
    if (breaker.fail(id)) onOpen(id);
  };
  try {
    const answer = await askUpstream(call, turn.offered, body);
    const begun = turn.hasNext ? await whenBegun(call, turn.offered, answer) : answer;
    if (isTransientStatus(begun.status)) fail();
    else breaker.succeed(id);
    return begun;
  } catch (thrown) {
    client.signal.throwIfAborted();
    const isKnown = thrown instanceof UpstreamFault;
    if (!isKnown && !isFaultOfUpstream(thrown)) throw thrown;
    fail();
    throw turn.hasNext && !isKnown ? new UpstreamFault(thrown.message, { cause: thrown }) : thrown;
  }
}

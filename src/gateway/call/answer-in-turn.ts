import type { Turn } from '../fallback/turn.ts';
import { UpstreamFault } from '../fallback/upstream-fault.ts';
import type { CallOfCaller } from '../stages.ts';
import { candidatesOf, type OfferedModel } from '../upstream/upstream.ts';
import type { ClientReply } from './client-call.ts';

/**
 * Answers a call from the first upstream of a model that is not at fault. `answer` does all that is done for one of them, its
 * hooks included, and throws UpstreamFault only before a client or a hook has anything of its answer. Throws what else it
 * throws: a denial is no fault.
 */
export async function answerInTurn(
  call: CallOfCaller,
  model: OfferedModel,
  answer: (turn: Turn) => Promise<ClientReply>,
): Promise<ClientReply> {
  const candidates = candidatesOf(model, call.client.endpoint);
  const [first = model, ...others] = candidates.length === 1 ? candidates : withoutFailing(call, candidates);
  if (candidates.length === 1) return await answer({ offered: first, isFallback: false, hasNext: undefined });
  let offered = first;
  for (const next of others) {
    try {
      return await answer(takeTurn(call, { offered, isFallback: offered !== model, hasNext: true }));
    } catch (thrown) {
      if (!(thrown instanceof UpstreamFault)) throw thrown;
      call.client.signal.throwIfAborted();
      call.services.fallback.onFallback(offered.provider.id, next.provider.id, thrown.message);
      offered = next;
    }
  }
  return await answer(takeTurn(call, { offered, isFallback: offered !== model, hasNext: false }));
}

/** Without those that fail time after time, unless that are all. */
function withoutFailing(
  { services }: CallOfCaller,
  candidates: readonly OfferedModel[],
): readonly OfferedModel[] {
  const closed = candidates.filter(({ provider }) => !services.fallback.breaker.isOpen(provider.id));
  return closed.length > 0 ? closed : candidates;
}

function takeTurn({ account }: CallOfCaller, turn: Turn): Turn {
  account.turnTo(turn.offered);
  return turn;
}

import { isCancelled, RuntimeError } from '../../base/errors.ts';
import type { Answer, Deny } from '../../contract/hook.ts';
import type { Reply } from '../../process/transport.ts';

export { isCancelled } from '../../base/errors.ts';

/** The signals by which our side ends an exchange. */
export interface CancelSignals {
  /** The caller gives up. */
  readonly signal?: AbortSignal | undefined;
  /** The runtime closes its processes. */
  readonly closing?: AbortSignal | undefined;
}

/**
 * Returns the reply or fault of a peer. Throws ABORTED or RUNTIME_CLOSED if our side has cancelled the
 * exchange, since a reply or failure after that may be our own doing and must not pass as the peer's.
 */
export function requireNotCancelled(
  reply: Reply | RuntimeError,
  { signal, closing }: CancelSignals,
): Reply | RuntimeError {
  if (reply instanceof RuntimeError && isCancelled(reply)) throw reply;
  if (signal?.aborted) throw new RuntimeError('ABORTED', 'the caller gave up before there was an answer');
  if (closing?.aborted)
    throw new RuntimeError('RUNTIME_CLOSED', 'the runtime was closed before there was an answer');
  return reply;
}

/** Whether the answer is a denial because our side cancelled the exchange. */
export function isCancelledAnswer(answer: Answer): answer is Deny {
  return answer.verdict === 'deny' && isCancelled(answer.error);
}

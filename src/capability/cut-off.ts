import type { Answer, Deny } from '../contract/hook.ts';
import { type Fault, RuntimeError } from '../errors.ts';
import type { Reply } from '../transport/transport.ts';

/** What ends an exchange that is no doing of the peer's. */
export interface Ending {
  /** The caller gives up. */
  readonly signal?: AbortSignal | undefined;
  /** The runtime closes its processes. */
  readonly leaving?: AbortSignal | undefined;
}

/** Whether it was us who ended what was asked: the peer has decided nothing then, and has not failed either. */
export function isCutOff(fault: Pick<Fault, 'code'> | undefined): boolean {
  return fault?.code === 'ABORTED' || fault?.code === 'RUNTIME_CLOSED';
}

/**
 * What a peer left, unless we have cut it off: what is said, or fails, behind that may be our own doing, and no rule of
 * anybody's may let it pass. Throws ABORTED, RUNTIME_CLOSED.
 */
export function requireUncut(reply: Reply | RuntimeError, { signal, leaving }: Ending): Reply | RuntimeError {
  if (reply instanceof RuntimeError && isCutOff(reply)) throw reply;
  if (signal?.aborted) throw new RuntimeError('ABORTED', 'the caller gave up before there was an answer');
  if (leaving?.aborted)
    throw new RuntimeError('RUNTIME_CLOSED', 'the runtime was closed before there was an answer');
  return reply;
}

/** Whether that is why there is no answer. */
export function wasCutOff(answer: Answer): answer is Deny {
  return answer.verdict === 'deny' && isCutOff(answer.error);
}

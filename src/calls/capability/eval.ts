import type { Fault } from '../../base/errors.ts';
import type { Timing } from '../../base/time/stopwatch.ts';
import { type EvalOutcome, type EvalRequest, unscored } from '../../contract/eval.ts';
import type { Reply } from '../../process/transport.ts';
import { type Invocation, invokeOr, type Port, trackCall } from './invoke.ts';

/** An outcome, the milliseconds it took, and what was said beside it. */
export interface TimedOutcome extends Timing {
  readonly outcome: EvalOutcome;
  /** The end of what a one-shot process said on stderr, when it replied. */
  readonly stderr: string;
}

/** Asks an eval for a score. A fault of any kind is unscored, never 0; never rejects. */
export async function runEval(
  port: Port<EvalRequest, EvalOutcome>,
  invocation: Invocation<EvalRequest>,
): Promise<TimedOutcome> {
  const call = trackCall(port.emit, 'eval', { name: port.binding.name, call: invocation.call });
  let stderr = '';
  const onReply = (reply: Reply) => {
    if (reply.via === 'process') stderr = reply.stderr;
  };
  const outcome = await invokeOr(port, { ...invocation, onReply }, { onFault, clock: call.clock });
  const took = call.finish({
    status: outcome.status,
    error: outcome.status === 'unscored' ? outcome.error : undefined,
  });
  return { outcome, ...took, stderr };
}

function onFault(fault: Fault): EvalOutcome {
  return unscored(fault.message, fault);
}

import pRetry from 'p-retry';
import type { EvalOutcome } from '../../contract/eval.ts';
import { type ErrorCode, type Fault, RuntimeError } from '../../errors.ts';

/** What carries a fault when there is one: an answer, or the verdict of an eval. */
export type Faulty = { readonly error?: Fault } | { readonly outcome: EvalOutcome };

/**
 * Does the work again, up to `retries` times, while it comes to a fault of the infrastructure; never for a score or an
 * answer, however bad. `firstPauseMs` is doubled before each further repetition, and up to doubled by chance. Gives the
 * last result, also where `signal` ends a pause. Throws ABORTED before the first one, and what the work throws.
 */
export async function retryFaults<Result extends Faulty>(
  retries: number,
  signal: AbortSignal,
  work: () => Promise<Result>,
  firstPauseMs = 250,
): Promise<Result & { readonly attempts: number }> {
  if (signal.aborted) throw new RuntimeError('ABORTED', 'it was given up before it was asked');
  let last = await work();
  let attempts = 1;
  // Nearly always there is nothing to repeat, and what repeats costs more than many an answer.
  if (retries === 0 || !isWorthAnother(last)) return { ...last, attempts };
  let isFirst = true;
  const attempt = async () => {
    if (!isFirst) {
      last = await work();
      attempts += 1;
    }
    isFirst = false;
    if (isWorthAnother(last)) throw new WorthAnother();
  };
  try {
    await pRetry(attempt, {
      retries,
      minTimeout: firstPauseMs,
      maxTimeout: LONGEST_PAUSE_MS,
      factor: 2,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof WorthAnother,
    });
  } catch (error) {
    if (!(error instanceof WorthAnother) && !signal.aborted) throw error;
  }
  return { ...last, attempts };
}

const LONGEST_PAUSE_MS = 10_000;

class WorthAnother extends Error {
  override readonly name = 'WorthAnother';
}

function isWorthAnother(result: Faulty): boolean {
  const fault = 'outcome' in result ? faultOf(result.outcome) : result.error;
  return fault !== undefined && infrastructure.has(fault.code);
}

function faultOf(outcome: EvalOutcome): Fault | undefined {
  return outcome.status === 'unscored' ? outcome.error : undefined;
}

/**
 * The faults that may be gone a moment later, and say nothing about what is judged. Whatever is not here is somebody's
 * word (TOOL_ERROR, DENIED, REJECTED), comes again (ARGS_INVALID, RESULT_INVALID, REPLY_MALFORMED, OUTPUT_LIMIT,
 * EXPRESSION_FAILED, REPLAY_MISS), ends the run anyway (STORE_FAILED, ABORTED, RUNTIME_CLOSED), or is a limit that the
 * suite or a pipeline has set itself (STEP_TIMEOUT, ROUNDS_EXHAUSTED).
 */
const infrastructure: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PROCESS_START', // The machine may have been out of processes, memory or descriptors.
  'PROCESS_EXIT', // How most scripts end when a service that they call is away; a mistake of their own comes again.
  'PROCESS_SIGNAL', // Killed from outside, for want of memory as a rule.
  'PROCESS_TIMEOUT', // The machine was too busy.
  'SERVER_EXIT', // It is started again for the next request.
  'SERVER_BUSY', // It catches up.
  'SERVER_CIRCUIT_OPEN', // It closes after its pause.
  'PROVIDER_FAILED', // Overload and networks pass.
  'PROVIDER_TIMEOUT',
]);

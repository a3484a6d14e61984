import pRetry from 'p-retry';
import { type ErrorCode, type Fault, RuntimeError } from '../../base/errors.ts';
import type { EvalOutcome } from '../../contract/eval.ts';

/** A result that may carry a fault: an answer of a subject, or the outcome of an eval. */
export type MaybeFaulty = { readonly error?: Fault } | { readonly outcome: EvalOutcome };

/**
 * Repeats the work, up to `retries` times, while its result is a fault of the infrastructure; never for a
 * score or an answer, however bad; a judge whose answer cannot be read is asked again. The work gets the number of its attempt, from 1. The pause starts with
 * `firstPauseMs`, doubles each time, and has a random factor of 1 to 2. Returns the last result, also when `signal` ends a pause. Throws ABORTED when it
 * is aborted already, and what the work throws.
 */
export async function retryFaults<Result extends MaybeFaulty>(
  retries: number,
  signal: AbortSignal,
  work: (attempt: number) => Promise<Result>,
  firstPauseMs = 250,
): Promise<Result & { readonly attempts: number }> {
  if (signal.aborted) throw new RuntimeError('ABORTED', 'it was given up before it was asked');
  let last = await work(1);
  let attempts = 1;
  // The usual case, without the cost of setting p-retry up.
  if (retries === 0 || !isRetryable(last)) return { ...last, attempts };
  let isFirst = true;
  const attempt = async () => {
    if (!isFirst) {
      attempts += 1;
      last = await work(attempts);
    }
    isFirst = false;
    if (isRetryable(last)) throw new RetryableFault();
  };
  try {
    await pRetry(attempt, {
      retries,
      minTimeout: firstPauseMs,
      maxTimeout: LONGEST_PAUSE_MS,
      factor: 2,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof RetryableFault,
    });
  } catch (error) {
    if (!(error instanceof RetryableFault) && !signal.aborted) throw error;
  }
  return { ...last, attempts };
}

const LONGEST_PAUSE_MS = 10_000;

class RetryableFault extends Error {
  override readonly name = 'WorthAnother';
}

function isRetryable(result: MaybeFaulty): boolean {
  const fault = 'outcome' in result ? faultOf(result.outcome) : result.error;
  return fault !== undefined && (retryableCodes.has(fault.code) || isUnreadableJudge(fault));
}

/** A model may answer better the next time, where a program says the same again. */
function isUnreadableJudge({ code, details }: Fault): boolean {
  return code === 'REPLY_MALFORMED' && details?.['by'] === 'judge';
}

function faultOf(outcome: EvalOutcome): Fault | undefined {
  return outcome.status === 'unscored' ? outcome.error : undefined;
}

/**
 * Codes of faults that may be gone on the next attempt and say nothing about what is judged. Not among
 * them: answers (TOOL_ERROR, DENIED, REJECTED), faults that repeat (ARGS_INVALID, RESULT_INVALID,
 * REPLY_MALFORMED, OUTPUT_LIMIT, LIMIT_EXCEEDED, EXPRESSION_FAILED, REPLAY_MISS), what ends the run anyway (STORE_FAILED,
 * ABORTED, RUNTIME_CLOSED), and limits that the suite or a pipeline sets (STEP_TIMEOUT, ROUNDS_EXHAUSTED).
 */
export const retryableCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
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

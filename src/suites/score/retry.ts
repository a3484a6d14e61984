import pRetry from 'p-retry';
import { type ErrorCode, type Fault, RuntimeError } from '../../base/errors.ts';
import type { EvalOutcome } from '../../contract/eval.ts';

export type MaybeFaulty = { readonly error?: Fault } | { readonly outcome: EvalOutcome };

/**
 * Repeats `work` up to `retries` times while its result is an infrastructure fault, or a judge's answer that cannot be
 * parsed. Scores and answers are never retried. The pause starts at `firstPauseMs`, doubles, and has a random factor of
 * 1 to 2. Returns the last result, even if `signal` ends a pause. Throws ABORTED if the signal is already aborted.
 * Rethrows errors of `work`.
 */
export async function retryFaults<Result extends MaybeFaulty>(
  retries: number,
  signal: AbortSignal,
  work: (attempt: number) => Promise<Result>,
  firstPauseMs = 250,
): Promise<Result & { readonly attempts: number }> {
  if (signal.aborted) throw new RuntimeError('ABORTED', 'the run stopped before the call started');
  let last = await work(1);
  let attempts = 1;
  // The usual case; avoids the setup cost of p-retry.
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

/** A model may answer better next time, while a program repeats its answer. */
function isUnreadableJudge({ code, details }: Fault): boolean {
  return code === 'REPLY_MALFORMED' && details?.['by'] === 'judge';
}

function faultOf(outcome: EvalOutcome): Fault | undefined {
  return outcome.status === 'unscored' ? outcome.error : undefined;
}

/**
 * Faults that may be temporary and say nothing about the judged text. Excluded are:
 * - answers: TOOL_ERROR, DENIED, REJECTED
 * - faults that repeat: ARGS_INVALID, RESULT_INVALID, REPLY_MALFORMED, OUTPUT_LIMIT, LIMIT_EXCEEDED, EXPRESSION_FAILED,
 *   REPLAY_MISS
 * - faults that end the run: STORE_FAILED, ABORTED, RUNTIME_CLOSED
 * - limits of the suite or pipeline: STEP_TIMEOUT, ROUNDS_EXHAUSTED
 */
export const retryableCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PROCESS_START', // The machine may be out of processes, memory or descriptors.
  'PROCESS_EXIT', // Most scripts exit when a service they need is unavailable; their own bugs repeat.
  'PROCESS_SIGNAL', // Usually killed for lack of memory.
  'PROCESS_TIMEOUT',
  'SERVER_EXIT', // Restarted for the next request.
  'SERVER_BUSY',
  'SERVER_CIRCUIT_OPEN', // The circuit closes after its pause.
  'PROVIDER_FAILED', // Overload and network faults pass.
  'PROVIDER_TIMEOUT',
]);

import type { ErrorCode } from '../base/errors.ts';
import type { DecisionDocument, EvalDocument, ToolDocument } from '../contract/document.ts';
import type { RunDocument } from '../contract/run.ts';

/** 0 done and good; 1 the work failed; 2 the call or the config is wrong; 3 waiting for a person, or not at its end; 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

export function exitCodeOfTool(status: ToolDocument['status']): ExitCode {
  switch (status) {
    case 'ok':
      return 0;
    case 'failed':
    case 'denied':
      return 1;
    case 'pending':
      return 3;
  }
}

/** Without bounds a score is a metric and any score is an answer; with them it must lie within. */
export function exitCodeOfEval(document: EvalDocument, isBounded: boolean): ExitCode {
  return document.status === 'scored' && (document.passed || !isBounded) ? 0 : 1;
}

export function exitCodeOfDecision(verdict: DecisionDocument['verdict']): ExitCode {
  switch (verdict) {
    case 'allow':
    case 'modify':
    case 'respond':
      return 0;
    case 'deny':
    case 'abort':
      return 1;
    case 'ask':
      return 3;
  }
}

export function exitCodeOfRun(status: RunDocument['status']): ExitCode {
  switch (status) {
    case 'completed':
      return 0;
    case 'failed':
    case 'denied':
    case 'cancelled':
    case 'suspended':
      return 1;
    case 'pending':
    case 'waiting':
    case 'queued':
    case 'running':
      return 3;
  }
}

export function exitCodeOfSuite(status: 'passed' | 'failed' | 'error'): ExitCode {
  switch (status) {
    case 'passed':
      return 0;
    case 'failed':
      return 1;
    case 'error':
      return 2;
  }
}

/** The exit code of an error of a command whose 1 is a verdict, such as a missed gate of `eval`: never 1. */
export function exitCodeOfEvalError(code: ErrorCode): ExitCode {
  return code === 'ABORTED' ? 130 : 2;
}

/** The exit code of an error of any other command. */
export function exitCodeOfError(code: ErrorCode): ExitCode {
  switch (code) {
    case 'USAGE':
    case 'PLATFORM_UNSUPPORTED':
    case 'FILE_UNREADABLE':
    case 'CONFIG_INVALID':
    case 'DATASET_INVALID':
    case 'NAME_UNKNOWN':
    case 'LISTEN_FAILED':
    case 'EVENT_INVALID':
    case 'INPUT_INVALID':
    case 'ENV_MISSING':
    // As outcomes of a call these two are values; as errors they mean that a decision was invalid.
    case 'ARGS_INVALID':
    case 'RESULT_INVALID':
    case 'RUN_UNKNOWN':
    case 'RUN_ENDED':
    case 'RUN_ID_TAKEN':
    case 'RUN_NOT_RETRYABLE':
    case 'KEY_UNKNOWN':
      return 2;
    case 'ABORTED':
    case 'STOP_TIMEOUT':
      return 130;
    case 'EXPRESSION_FAILED':
    case 'TOOL_ERROR':
    case 'EVAL_ERROR':
    case 'TOOL_NOT_RUNNABLE':
    case 'PROCESS_START':
    case 'SANDBOX_FAILED':
    case 'PROCESS_EXIT':
    case 'PROCESS_SIGNAL':
    case 'PROCESS_TIMEOUT':
    case 'OUTPUT_LIMIT':
    case 'LIMIT_EXCEEDED':
    case 'REPLY_MALFORMED':
    case 'SERVER_EXIT':
    case 'SERVER_CIRCUIT_OPEN':
    case 'SERVER_BUSY':
    case 'REJECTED':
    case 'PENDING_EXPIRED':
    case 'PENDING_DECIDED':
    case 'PROVIDER_UNUSABLE':
    case 'PROVIDER_FAILED':
    case 'PROVIDER_TIMEOUT':
    case 'BUDGET_EXCEEDED':
    case 'REPLAY_MISS':
    case 'DENIED':
    case 'STEP_TIMEOUT':
    case 'LOOP_EXHAUSTED':
    case 'ROUNDS_EXHAUSTED':
    case 'OUTPUT_INVALID':
    case 'THRESHOLD_MISSED':
    case 'STORE_FAILED':
    case 'WORKER_FAILED':
    case 'RUN_BUSY':
    case 'RUNTIME_CLOSED':
    case 'NESTING_TOO_DEEP':
    case 'INTERNAL':
      return 1;
  }
}

import type { ErrorCode } from '../base/errors.ts';
import type { DecisionDocument, EvalDocument, ToolDocument } from '../contract/document.ts';
import type { RunDocument } from '../contract/run.ts';

/** 0 done and good; 1 the work failed; 2 the call or the config is wrong; 3 waiting for a person, or not at its end; 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

export const exitCodeOfTool: Readonly<Record<ToolDocument['status'], ExitCode>> = {
  ...{ ok: 0, failed: 1, denied: 1, pending: 3 },
};

export const exitCodeOfDecision: Readonly<Record<DecisionDocument['verdict'], ExitCode>> = {
  ...{ allow: 0, modify: 0, respond: 0, deny: 1, abort: 1, ask: 3 },
};

export const exitCodeOfRun: Readonly<Record<RunDocument['status'], ExitCode>> = {
  ...{ completed: 0, failed: 1, denied: 1, cancelled: 1, suspended: 1 },
  ...{ pending: 3, waiting: 3, queued: 3, running: 3 },
};

export const exitCodeOfSuite = { passed: 0, failed: 1, error: 2 } as const;

/** Without bounds a score is a metric and any score is an answer; with them it must lie within. */
export function exitCodeOfEval(document: EvalDocument, isBounded: boolean): ExitCode {
  return document.status === 'scored' && (document.passed || !isBounded) ? 0 : 1;
}

/** The exit code of an error of a command whose 1 is a verdict, such as a missed gate of `eval`: never 1. */
export function exitCodeOfEvalError(code: ErrorCode): ExitCode {
  return code === 'ABORTED' ? 130 : 2;
}

/** The exit code of an error of any other command: 2 where the call or the config is wrong. */
export function exitCodeOfError(code: ErrorCode): ExitCode {
  if (code === 'ABORTED' || code === 'STOP_TIMEOUT') return 130;
  return wrongCalls.has(code) ? 2 : 1;
}

const wrongCalls: ReadonlySet<ErrorCode> = new Set([
  ...(['USAGE', 'PLATFORM_UNSUPPORTED', 'FILE_UNREADABLE', 'CONFIG_INVALID', 'DATASET_INVALID'] as const),
  ...(['NAME_UNKNOWN', 'LISTEN_FAILED', 'EVENT_INVALID', 'INPUT_INVALID', 'ENV_MISSING'] as const),
  // As outcomes of a call these two are values; as errors they mean that a decision was invalid.
  ...(['ARGS_INVALID', 'RESULT_INVALID'] as const),
  ...(['RUN_UNKNOWN', 'RUN_ENDED', 'RUN_ID_TAKEN', 'RUN_NOT_RETRYABLE', 'KEY_UNKNOWN'] as const),
]);

import type { ErrorCode } from '../base/errors.ts';
import type { DecisionDocument, EvalDocument, ToolDocument } from '../contract/document.ts';
import type { RunDocument } from '../contract/run.ts';

/**
 * 0: success; 1: the work failed; 2: invalid call or config; 3: waiting for a person, or unfinished; 130: interrupted.
 */
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

export function exitCodeOfEval(document: EvalDocument, isBounded: boolean): ExitCode {
  return document.status === 'scored' && (document.passed || !isBounded) ? 0 : 1;
}

/** For commands whose exit code 1 is a verdict: never 1. */
export function exitCodeOfEvalError(code: ErrorCode): ExitCode {
  return code === 'ABORTED' ? 130 : 2;
}

/** For all other commands: 2 for an invalid call or config. */
export function exitCodeOfError(code: ErrorCode): ExitCode {
  if (code === 'ABORTED' || code === 'STOP_TIMEOUT') return 130;
  return wrongCalls.has(code) ? 2 : 1;
}

const wrongCalls: ReadonlySet<ErrorCode> = new Set([
  ...(['USAGE', 'PLATFORM_UNSUPPORTED', 'FILE_UNREADABLE', 'CONFIG_INVALID', 'DATASET_INVALID'] as const),
  ...(['NAME_UNKNOWN', 'LISTEN_FAILED', 'EVENT_INVALID', 'INPUT_INVALID', 'ENV_MISSING'] as const),
  // As outcomes of a call these two are values; as errors they mean an invalid decision.
  ...(['ARGS_INVALID', 'RESULT_INVALID'] as const),
  ...([
    'RUN_UNKNOWN',
    'RUN_ENDED',
    'RUN_ID_TAKEN',
    'CALL_ID_TAKEN',
    'RUN_NOT_RETRYABLE',
    'KEY_UNKNOWN',
  ] as const),
]);

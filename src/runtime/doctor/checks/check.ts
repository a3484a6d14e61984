import type { SourceLocation } from '../../../base/yaml/problem.ts';

/** What one check has found; `not applicable` where there is nothing to check. */
export type CheckStatus = 'ok' | 'warning' | 'error' | 'not applicable';

/** One check of a config or its machine. */
export interface Check {
  /** What is checked, such as `command` or `state folder`. */
  readonly check: string;
  /** Of which entry, file or part of the machine; empty where there is only one. */
  readonly subject: string;
  readonly status: CheckStatus;
  readonly message: string;
  /** The next step; null where there is none. */
  readonly hint: string | null;
  /** Where it is declared; null of what stands in no file. */
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

/** What is told of a check beside its status. */
export interface Finding {
  readonly check: string;
  readonly subject?: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly place?: SourceLocation | undefined;
}

/** A check with that status. */
export function found(status: CheckStatus, { check, subject = '', message, hint, place }: Finding): Check {
  const { file = null, line = null, column = null } = place ?? {};
  return { check, subject, status, message, hint: hint ?? null, file, line, column };
}

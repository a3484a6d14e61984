import type { SourceLocation } from '../../../base/yaml/problem.ts';

export type CheckStatus = 'ok' | 'warning' | 'error' | 'not applicable';

export interface Check {
  readonly check: string;
  readonly subject: string;
  readonly status: CheckStatus;
  readonly message: string;
  readonly hint: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

export interface Finding {
  readonly check: string;
  readonly subject?: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly place?: SourceLocation | undefined;
}

export function found(status: CheckStatus, { check, subject = '', message, hint, place }: Finding): Check {
  const { file = null, line = null, column = null } = place ?? {};
  return { check, subject, status, message, hint: hint ?? null, file, line, column };
}

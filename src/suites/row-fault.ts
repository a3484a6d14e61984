import type { SourceLocation } from '../base/yaml/problem.ts';

/** What is wrong with a row. */
export interface RowFault {
  /** The line of the suite that is wrong, rather than the row; reported once. */
  readonly location?: Pick<SourceLocation, 'file' | 'line'>;
  readonly message: string;
  readonly hint?: string;
}

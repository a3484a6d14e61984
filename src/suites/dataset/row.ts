import { type ErrorCode, RuntimeError } from '../../base/errors.ts';
import type { SourceLocation } from '../../base/yaml/problem.ts';
import { describeValue } from '../../base/yaml/wording.ts';

export interface Row {
  /** From 1 over all files of the dataset; blank lines are not counted. */
  readonly number: number;
  readonly file: string;
  /** The first line of the row. For an unreadable row, the line of the fault. */
  readonly line: number;
  /** The object of the row, with all digits of long numbers, or the reason why it cannot be used. */
  readonly content: RowContent;
}

export type RowContent =
  | { readonly usable: true; readonly value: Readonly<Record<string, unknown>> }
  | UnusableContent;

export interface UnusableContent {
  readonly usable: false;
  readonly problem: { readonly message: string; readonly hint?: string };
}

export interface FileRow {
  readonly line: number;
  readonly content: RowContent;
}

/**
 * Reads the rows of one file from bytes without a byte order mark. Unreadable rows are yielded as unusable. Throws
 * DATASET_INVALID if the header is unusable or the file is too large to read. Rethrows a DecompressionError of the
 * chunks after the last complete row.
 */
export type ReadFormat = (chunks: AsyncIterable<Buffer>, file: string) => AsyncIterable<FileRow>;

export function unusable(message: string, hint?: string): UnusableContent {
  return { usable: false, problem: hint === undefined ? { message } : { message, hint } };
}

/** The content of a row that is not UTF-8, with a guess at the encoding. `subject` is, for example, `the line`. */
export function notUtf8(subject: string, bytes: Uint8Array): UnusableContent {
  const [name, option] = bytes.includes(0)
    ? ['UTF-16', 'UTF-16']
    : ['Latin-1 or Windows-1252', 'WINDOWS-1252'];
  return unusable(
    `${subject} is not valid UTF-8`,
    `It looks like ${name}. Save the dataset as UTF-8, as with \`iconv -f ${option} -t UTF-8 OLD > NEW\`.`,
  );
}

export interface RowFault {
  /** Default: DATASET_INVALID. */
  readonly code?: ErrorCode;
  /** The faulty line of the suite, if the row is not at fault. Reported once. */
  readonly location?: Pick<SourceLocation, 'file' | 'line'>;
  readonly message: string;
  readonly hint?: string;
}

/** Returns, but does not throw, a DATASET_INVALID error for a wrong value at `place` of a mapped row. */
export function datasetError(place: string, wanted: string, value: unknown): RuntimeError {
  const message = `${place} must be ${wanted}, not ${describeRowValue(value)}`;
  return new RuntimeError('DATASET_INVALID', message, {
    hint: 'Correct the row, or the expression in the suite that reads it.',
  });
}

export function describeRowValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && JSON.isRawJSON(value))
    return `the number ${value.rawJSON}`;
  return describeValue(value);
}

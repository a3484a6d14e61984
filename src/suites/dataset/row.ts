import { RuntimeError } from '../../base/errors.ts';
import type { SourceLocation } from '../../base/yaml/problem.ts';
import { describeValue } from '../../base/yaml/wording.ts';

/** One row of a dataset and where it stands. */
export interface Row {
  /** Counts from 1 through all files of the dataset; blank lines are no rows. */
  readonly number: number;
  readonly file: string;
  /** The row's first line; of a row that cannot be read, the line where the fault is. */
  readonly line: number;
  /** The object of the row, long numbers with all their digits; or why it cannot be used. */
  readonly content: RowContent;
}

export type RowContent =
  | { readonly usable: true; readonly value: Readonly<Record<string, unknown>> }
  | UnusableContent;

export interface UnusableContent {
  readonly usable: false;
  readonly problem: { readonly message: string; readonly hint?: string };
}

/** A row of one file, without its number in the dataset. */
export interface FileRow {
  readonly line: number;
  readonly content: RowContent;
}

/**
 * Reads the rows of one file from its bytes, which come without a byte order mark. What cannot be read is
 * an unusable row. Throws DATASET_INVALID for a file without a usable header or of a size that cannot be
 * read, and, after the last complete row, a DecompressionError of the chunks.
 */
export type ReadFormat = (chunks: AsyncIterable<Buffer>, file: string) => AsyncIterable<FileRow>;

/** The content of a row that cannot be used, with a hint what to do about it. */
export function unusable(message: string, hint?: string): UnusableContent {
  return { usable: false, problem: hint === undefined ? { message } : { message, hint } };
}

/**
 * The content of a row whose bytes are not UTF-8, with a guess at their encoding; `subject` is such as `the
 * line`.
 */
export function notUtf8(subject: string, bytes: Uint8Array): UnusableContent {
  const [name, option] = bytes.includes(0)
    ? ['UTF-16', 'UTF-16']
    : ['Latin-1 or Windows-1252', 'WINDOWS-1252'];
  return unusable(
    `${subject} is not valid UTF-8`,
    `It looks like ${name}. Save the dataset as UTF-8, as with \`iconv -f ${option} -t UTF-8 OLD > NEW\`.`,
  );
}

/** What is wrong with a row. */
export interface RowFault {
  /** The line of the suite that is wrong, rather than the row; reported once. */
  readonly location?: Pick<SourceLocation, 'file' | 'line'>;
  readonly message: string;
  readonly hint?: string;
}

/**
 * The DATASET_INVALID error for the wrong kind of value at `place` of a mapped row; it is not thrown here.
 */
export function datasetError(place: string, wanted: string, value: unknown): RuntimeError {
  const message = `${place} must be ${wanted}, not ${describeRowValue(value)}`;
  return new RuntimeError('DATASET_INVALID', message, {
    hint: 'Correct the row, or the expression in the suite that reads it.',
  });
}

/** What a value is, in a few words; of a number with all its digits. */
export function describeRowValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && JSON.isRawJSON(value))
    return `the number ${value.rawJSON}`;
  return describeValue(value);
}

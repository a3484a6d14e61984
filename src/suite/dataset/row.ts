/** One row of a dataset and where it stands. */
export interface Row {
  /** Counts from 1 through all files of the dataset; blank lines are no rows. */
  readonly number: number;
  readonly file: string;
  /** The row's first line; of a row that cannot be read, the line where the fault is. */
  readonly line: number;
  /** The row's object; long numbers in it keep their digits. Or why there is none. */
  readonly content: RowContent;
}

export type RowContent =
  | { readonly usable: true; readonly value: Readonly<Record<string, unknown>> }
  | UnusableContent;

export interface UnusableContent {
  readonly usable: false;
  readonly problem: { readonly message: string; readonly hint?: string };
}

/** A row as its file has it. */
export interface FoundRow {
  readonly line: number;
  readonly content: RowContent;
}

/**
 * Finds the rows in the bytes of one file, which come without a byte order mark. What cannot be read is an unusable
 * row; throws DATASET_INVALID for a file that has no rows at all to speak of. A PackedFault of the chunks is thrown on
 * behind the rows that are whole.
 */
export type ReadFormat = (chunks: AsyncIterable<Buffer>, file: string) => AsyncIterable<FoundRow>;

/** A row that nobody can use, and what to do about it. */
export function unusable(message: string, hint?: string): UnusableContent {
  return { usable: false, problem: hint === undefined ? { message } : { message, hint } };
}

/** What an unusable row says of bytes that are no text; `subject` is such as `the line`. */
export function notUtf8(subject: string, bytes: Uint8Array): UnusableContent {
  const [name, option] = bytes.includes(0)
    ? ['UTF-16', 'UTF-16']
    : ['Latin-1 or Windows-1252', 'WINDOWS-1252'];
  return unusable(
    `${subject} is not valid UTF-8`,
    `It looks like ${name}. Save the dataset as UTF-8, as with \`iconv -f ${option} -t UTF-8 OLD > NEW\`.`,
  );
}

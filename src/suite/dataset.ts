import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { RuntimeError } from '../errors.ts';
import { isObject, parseLossless } from '../json.ts';
import { type Line, splitLines } from './lines.ts';
import type { Dataset } from './model.ts';

/** One row of a dataset and where it stands. */
export interface Row {
  /** Counts from 1; blank lines are no rows. */
  readonly number: number;
  readonly file: string;
  readonly line: number;
  /** The row's object; long numbers in it keep their digits. Or why there is none. */
  readonly content: RowContent;
}

export type RowContent =
  | { readonly usable: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly usable: false; readonly problem: { readonly message: string; readonly hint?: string } };

/** Streams the rows in their order, one held at a time. Throws FILE_UNREADABLE. An abort ends it early. */
export async function* readRows(dataset: Dataset, signal: AbortSignal): AsyncGenerator<Row> {
  if (dataset.kind === 'inline') {
    for (const [index, { line, value }] of dataset.rows.entries()) {
      yield { number: index + 1, file: dataset.file, line, content: { usable: true, value } };
    }
    return;
  }
  const file = dataset.path === '-' ? '<stdin>' : dataset.path;
  let number = 0;
  try {
    for await (const line of splitLines(openBytes(dataset.path, signal), maxLineBytes)) {
      const content = readLine(line);
      if (content === undefined) continue;
      number += 1;
      yield { number, file, line: line.number, content };
    }
  } catch (cause) {
    if (signal.aborted) return;
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, { cause });
  }
}

const maxLineBytes = 64 * 1024 * 1024;

function openBytes(path: string, signal: AbortSignal): Readable {
  return addAbortSignal(signal, path === '-' ? process.stdin : createReadStream(path));
}

/** Undefined for a blank line. */
function readLine({ number, bytes }: Line): RowContent | undefined {
  if (bytes === undefined) return unusable('the line is longer than 64 MiB');
  if (!isUtf8(bytes)) return unusable('the line is not valid UTF-8', 'Save the dataset as UTF-8.');
  const text = bytes.toString('utf8', number === 1 && startsWithMark(bytes) ? 3 : 0);
  if (text.trim() === '') return undefined;
  try {
    const value = parseLossless(text);
    if (isObject(value) && !JSON.isRawJSON(value)) return { usable: true, value };
    return unusable(`the line is ${Array.isArray(value) ? 'a list' : 'no JSON object'}`, wantedShape);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    // V8 adds where in the text it was, which looks like a line of the file and is none.
    return unusable(`the line is not JSON: ${reason.replace(/ \(line \d+ column \d+\)$/, '')}`, wantedShape);
  }
}

const wantedShape = 'A dataset has one JSON object on each line.';

function unusable(message: string, hint?: string): RowContent {
  return { usable: false, problem: hint === undefined ? { message } : { message, hint } };
}

/** The byte order mark that some editors put in front of UTF-8. */
function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function whyUnreadable(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EISDIR') return 'is a folder';
  if (code === 'EACCES') return 'may not be read';
  return `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
}

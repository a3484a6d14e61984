import { isUtf8 } from 'node:buffer';
import { readWindow } from './csv-window.ts';
import { countLines } from './lines.ts';
import { notUtf8, type UnusableContent, unusable } from './row.ts';

/** One record of separated values and its first line; never a blank one. */
export interface TextRecord {
  readonly line: number;
  readonly content: { readonly usable: true; readonly fields: readonly string[] } | UnusableContent;
}

/** Splits one text, which comes in chunks, into records. Consume each result before the next call. */
export interface RecordReader {
  push(chunk: Buffer): Iterable<TextRecord>;
  /** The records that are complete so far. */
  complete(): Iterable<TextRecord>;
  /** The rest, when no more chunks come. */
  end(): Iterable<TextRecord>;
}

/**
 * Holds at most twice `maxBytes`: a longer row is unusable, and a quote that stays open for longer counts
 * as never closed.
 */
export function newRecordReader(delimiter: string, maxBytes: number): RecordReader {
  let parts: Buffer[] = [];
  let size = 0;
  /** Parsing waits for this many bytes; it doubles while a record is incomplete. */
  let wanted = 0;
  const cursor: Cursor = { line: 1, isSkipping: false };
  const take = function* (isLast: boolean): Generator<TextRecord> {
    const bytes = Buffer.concat(parts);
    const rest = yield* takeRecords(bytes, { delimiter, maxBytes, isLast, cursor });
    parts = [rest];
    size = rest.length;
    wanted = size * 2;
  };
  return {
    *push(chunk) {
      const fresh = cursor.isSkipping ? skipLine(chunk, cursor) : chunk;
      parts.push(fresh);
      size += fresh.length;
      if (size >= wanted) yield* take(false);
    },
    complete: () => take(false),
    end: () => take(true),
  };
}

interface Cursor {
  /** Of the first byte that is not taken. */
  line: number;
  /** The rest of the line belongs to a row that is too long. */
  isSkipping: boolean;
}

function skipLine(chunk: Buffer, cursor: Cursor): Buffer {
  const end = chunk.indexOf(LINE_FEED);
  if (end === -1) return chunk.subarray(chunk.length);
  cursor.line += 1;
  cursor.isSkipping = false;
  return chunk.subarray(end + 1);
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
/** Bytes that are parsed at a time; doubled while a record goes on beyond them. */
const stepBytes = 64 * 1024;

interface TakeOptions {
  readonly delimiter: string;
  readonly maxBytes: number;
  /** No more bytes come. */
  readonly isLast: boolean;
  readonly cursor: Cursor;
}

/** Yields the records; returns the bytes of an incomplete one. */
function* takeRecords(
  bytes: Buffer,
  { delimiter, maxBytes, isLast, cursor }: TakeOptions,
): Generator<TextRecord, Buffer> {
  const upTo = isLast ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1;
  let at = 0;
  for (let step = stepBytes; at < upTo; ) {
    const from = at;
    const end = Math.min(upTo, endOfLine(bytes, from + step));
    const window = readWindow(bytes.subarray(from, end), delimiter);
    for (const { end, fields } of window.records) {
      const record = bytes.subarray(at, from + end);
      if (!isBlank(record, fields)) yield toRecord(cursor.line, record, fields);
      cursor.line += countLines(record);
      at = from + end;
    }
    if (window.fault === undefined) {
      at = end;
      continue;
    }
    step = window.isOpen ? step * 2 : stepBytes;
    if (window.isOpen && end < upTo) continue;
    if (window.isOpen && !isLast && bytes.length - at <= maxBytes) break;
    yield { line: cursor.line, content: unusable(window.fault, quotesHint) };
    cursor.line += 1;
    step = stepBytes;
    at = endOfLine(bytes, at);
  }
  if (isLast || at < upTo || bytes.length - at <= maxBytes) return bytes.subarray(at);
  yield { line: cursor.line, content: unusable(`the row is longer than ${maxBytes / 1024 / 1024} MiB`) };
  cursor.isSkipping = true;
  return bytes.subarray(bytes.length);
}

const quotesHint = 'Put the whole field into quotes, and write each quote in it twice.';

/** The position behind the line feed that comes next. */
function endOfLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LINE_FEED, from);
  return end === -1 ? bytes.length : end + 1;
}

/** Whether the record is a blank line; one quoted empty field is not. */
function isBlank(bytes: Buffer, fields: readonly string[]): boolean {
  return fields.length === 1 && fields[0]?.trim() === '' && bytes[0] !== QUOTE;
}

function toRecord(line: number, bytes: Buffer, fields: readonly string[]): TextRecord {
  return { line, content: isUtf8(bytes) ? { usable: true, fields } : notUtf8('the row', bytes) };
}

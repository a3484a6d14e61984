import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { RuntimeError } from '../../base/errors.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { cut } from '../../base/text/width.ts';
import type { DatasetFormat } from '../file/model.ts';
import { DecompressionError } from './decompress.ts';
import { readJson, readJsonLines } from './json.ts';
import { countLines } from './lines.ts';
import {
  type FileRow,
  notUtf8,
  type ReadFormat,
  type RowContent,
  type UnusableContent,
  unusable,
} from './row.ts';
import { readYaml } from './yaml.ts';

interface TextRecord {
  readonly line: number;
  readonly content: { readonly usable: true; readonly fields: readonly string[] } | UnusableContent;
}

/** Splits a text that arrives in chunks into records. Consume each result before the next call. */
interface RecordReader {
  push(chunk: Buffer): Iterable<TextRecord>;
  complete(): Iterable<TextRecord>;
  end(): Iterable<TextRecord>;
}

/**
 * Holds at most twice `maxBytes`. A longer row is unusable, and a quote that stays open for longer counts as never
 * closed.
 */
export function newRecordReader(delimiter: string, maxBytes: number): RecordReader {
  let parts: Buffer[] = [];
  let size = 0;
  /** Parsing waits for this many bytes. Doubles while a record is incomplete. */
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
  /** The line of the first byte that is not consumed. */
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
const stepBytes = 64 * 1024;

interface TakeOptions {
  readonly delimiter: string;
  readonly maxBytes: number;
  readonly isLast: boolean;
  readonly cursor: Cursor;
}

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

const quotesHint = 'Put the whole field into quotes, and double each quote in it.';

function endOfLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LINE_FEED, from);
  return end === -1 ? bytes.length : end + 1;
}

function isBlank(bytes: Buffer, fields: readonly string[]): boolean {
  return fields.length === 1 && fields[0]?.trim() === '' && bytes[0] !== QUOTE;
}

function toRecord(line: number, bytes: Buffer, fields: readonly string[]): TextRecord {
  return { line, content: isUtf8(bytes) ? { usable: true, fields } : notUtf8('the row', bytes) };
}

interface CsvRecord {
  readonly end: number;
  readonly fields: readonly string[];
}

interface CsvWindow {
  readonly records: readonly CsvRecord[];
  readonly isOpen: boolean;
  readonly fault: string | undefined;
}

/** Reads bytes that start at a record boundary, with quotes as in RFC 4180. */
function readWindow(bytes: Buffer, delimiter: string): CsvWindow {
  const records: CsvRecord[] = [];
  try {
    parse(bytes, {
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      on_record: (fields: readonly string[], { bytes: end }) => {
        records.push({ end, fields });
        return null;
      },
    });
    return { records, isOpen: false, fault: undefined };
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    const isOpen = thrown.code === 'CSV_QUOTE_NOT_CLOSED';
    return { records, isOpen, fault: wordFault(thrown) };
  }
}

function wordFault({ code, message }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is opened but never closed';
  if (code === 'CSV_INVALID_CLOSING_QUOTE') return 'text follows a closing quote';
  // The library's type declares a prefix of the code that the value lacks.
  return /opening quote/i.test(message) ? 'a field that is not quoted contains a quote' : message;
}

interface CsvTable {
  toRow(record: TextRecord): FileRow | undefined;
}

function newCsvTable(file: string, delimiter: string): CsvTable {
  let header: readonly string[] | undefined;
  return {
    toRow(record) {
      if (header !== undefined) return { line: record.line, content: toContent(record, header) };
      header = readHeader(record, { file, delimiter });
      return undefined;
    },
  };
}

function toContent({ content }: TextRecord, header: readonly string[]): RowContent {
  if (!content.usable) return content;
  const { fields } = content;
  if (fields.length !== header.length) {
    return unusable(`the row has ${count(fields.length)}, but the header has ${header.length}`, fieldsHint);
  }
  return { usable: true, value: Object.fromEntries(header.map((name, index) => [name, fields[index]])) };
}

const fieldsHint = 'Put a field that contains the separator or a line break into quotes.';

function count(fields: number): string {
  return formatCount(fields, 'field');
}

interface TableOptions {
  readonly file: string;
  readonly delimiter: string;
}

function readHeader({ line, content }: TextRecord, { file, delimiter }: TableOptions): readonly string[] {
  if (!content.usable) throw badHeader(file, line, content.problem.message);
  const { fields } = content;
  refuseOtherSeparator(fields, { file, line, delimiter });
  const nameless = fields.indexOf('');
  if (nameless !== -1) throw badHeader(file, line, `column ${nameless + 1} has no name`);
  const repeated = findRepeated(fields);
  if (repeated !== undefined) throw badHeader(file, line, `two columns have the name "${repeated}"`);
  return fields;
}

/** One pass, because a header may have a million columns. */
function findRepeated(fields: readonly string[]): string | undefined {
  const names = new Set<string>();
  return fields.find((name) => names.size === names.add(name).size);
}

/** A single-column header that contains another separator was probably written with that separator. */
function refuseOtherSeparator(
  fields: readonly string[],
  { file, line, delimiter }: TableOptions & { readonly line: number },
): void {
  const [only = ''] = fields;
  const other =
    fields.length === 1
      ? separators.find(({ sign }) => sign !== delimiter && only.includes(sign))
      : undefined;
  if (other === undefined) return;
  const names = only.split(other.sign).map((name) => cut(name.trim(), 40));
  const what = `the header row is one column, but looks like ${names.length} separated by ${other.name}: ${names.slice(0, 10).join(', ')}`;
  const wanted = delimiter === ',' ? 'commas' : 'tabs';
  const orFormat =
    other.sign === '\t' ? ' Or set format: tsv.' : other.sign === ',' ? ' Or set format: csv.' : '';
  throw new RuntimeError('DATASET_INVALID', `${file}:${line}: ${what}`, {
    hint: `Save the dataset with ${wanted} between its columns; spreadsheet programs offer the separator when they export.${orFormat}`,
  });
}

const separators = [
  { sign: ';', name: 'semicolons' },
  { sign: '\t', name: 'tabs' },
  { sign: '|', name: 'bars' },
  { sign: ',', name: 'commas' },
] as const;

function badHeader(file: string, line: number, why: string): RuntimeError {
  return new RuntimeError('DATASET_INVALID', `${file}:${line}: the header row is invalid: ${why}`, {
    hint: 'The first row names the columns. Give each column a different name.',
  });
}

/**
 * Reads rows below a header, with quotes as in RFC 4180. Continues on the next line after an unreadable row. Throws
 * DATASET_INVALID unless every column has a unique name.
 */
export function readSeparated(delimiter: ',' | '\t'): ReadFormat {
  return async function* (chunks, file) {
    const reader = newRecordReader(delimiter, maxRowBytes);
    const table = newCsvTable(file, delimiter);
    const toRows = function* (records: Iterable<TextRecord>): Generator<FileRow> {
      for (const record of records) {
        const row = table.toRow(record);
        if (row !== undefined) yield row;
      }
    };
    try {
      for await (const chunk of chunks) yield* toRows(reader.push(chunk));
    } catch (thrown) {
      if (thrown instanceof DecompressionError) yield* toRows(reader.complete());
      throw thrown;
    }
    yield* toRows(reader.end());
  };
}

const maxRowBytes = 16 * 1024 * 1024;

export const readers: Readonly<Record<DatasetFormat, ReadFormat>> = {
  jsonl: readJsonLines,
  json: readJson,
  csv: readSeparated(','),
  tsv: readSeparated('\t'),
  yaml: readYaml,
};

import { newRecordReader, type TextRecord } from './csv-records.ts';
import { newCsvTable } from './csv-table.ts';
import { DecompressionError } from './decompress.ts';
import type { FileRow, ReadFormat } from './row.ts';

/**
 * Rows of text below a header, with quotes as RFC 4180 has them. After a row that cannot be read the reading goes on
 * with the next line. Throws DATASET_INVALID for a header that does not give every column a name of its own.
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

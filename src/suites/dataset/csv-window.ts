import { CsvError, parse } from 'csv-parse/sync';

/** One record of separated values. */
interface CsvRecord {
  /** Where it ends in the bytes, behind its line feed. */
  readonly end: number;
  readonly fields: readonly string[];
}

/** The records of some bytes, and why the rest could not be parsed. */
export interface CsvWindow {
  readonly records: readonly CsvRecord[];
  /** A quote that is open at the end: more bytes may close it. */
  readonly isOpen: boolean;
  /** Why the record after the last one cannot be parsed. */
  readonly fault: string | undefined;
}

/** Reads bytes that start with a record, with quotes as RFC 4180 has them. */
export function readWindow(bytes: Buffer, delimiter: string): CsvWindow {
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
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is opened and never closed';
  if (code === 'CSV_INVALID_CLOSING_QUOTE') return 'text follows a closing quote';
  // The library's type lists the code with a prefix that its value does not have.
  return /opening quote/i.test(message) ? 'a quote stands inside a field that is not quoted' : message;
}

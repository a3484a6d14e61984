import { crc32 } from 'node:zlib';
import { DamagedError, type Row } from '../sqlite/row.ts';
import { decodeText, encodeText } from '../sqlite/statement.ts';

/** A text as Postgres can keep it: as in a SQLite store, NUL and lone surrogates are escapes. */
export const toKept = encodeText;

export function toKeptOrNull(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

/** A row with its texts as they were before they were kept. Throws Damaged. */
export function fromKept(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? decodeText(value) : value]),
  );
}

/** A number by which damage is found; of texts as they are kept. */
export function checksumOf(key: string, text: string): number {
  return crc32(text, crc32(`${key}\n`));
}

/** The row, with the checksum that its text has now as `actual`. */
export function withChecksum(row: Row, column: string): Row {
  const { step, [column]: text } = row;
  const actual = typeof step === 'string' && typeof text === 'string' ? checksumOf(step, text) : null;
  return { ...row, actual };
}

/** A row that a function of the database has answered with. Throws Damaged. */
export function readAnswer(text: unknown): Row {
  if (typeof text !== 'string') throw new DamagedError('an answer is no text');
  const row: unknown = JSON.parse(text);
  if (typeof row !== 'object' || row === null) throw new DamagedError('an answer is no row');
  return { ...row };
}

import { type Cut, cutValue } from '../../base/json/cut-value.ts';
import type { CaseRecord } from '../record.ts';

/** A row as it is reported and kept. */
export type KeptRow = Pick<CaseRecord, 'row' | 'row_cuts'>;

/**
 * The row as it is reported and kept: whole, or of a very large one the beginnings of its texts. What is judged of it is
 * kept whole beside it.
 */
export function keepRow(row: Readonly<Record<string, unknown>>): KeptRow {
  if (!isLarge(row)) return { row };
  const { value, cuts } = cutValue(row, { characters: LONGEST_TEXT, items: Number.POSITIVE_INFINITY });
  return cuts.length === 0 ? { row } : { row: value, row_cuts: cuts satisfies readonly Cut[] };
}

/** Characters in the texts of a row: with the text that is judged, a record must still be one string. */
const LARGEST_ROW = 16 * 1024 * 1024;
const LONGEST_TEXT = 1024 * 1024;

function isLarge(row: Readonly<Record<string, unknown>>): boolean {
  let size = 0;
  // Not by recursion: a row may be nested deeply.
  const left: unknown[] = [row];
  while (left.length > 0 && size <= LARGEST_ROW) {
    const value = left.pop();
    if (typeof value === 'string') size += value.length;
    else if (typeof value === 'object' && value !== null && !JSON.isRawJSON(value)) {
      for (const member of Object.values(value)) left.push(member);
    }
  }
  return size > LARGEST_ROW;
}

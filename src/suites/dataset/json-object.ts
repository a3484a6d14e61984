import { isUtf8 } from 'node:buffer';
import { isObject, parseLossless } from '../../base/json/json.ts';
import { notUtf8, type RowContent, unusable } from './row.ts';

/** The words of messages about one row of a format. */
export interface RowWording {
  /** Such as `the line`. */
  readonly subject: string;
  readonly hint: string;
}

/** The greatest number of bytes of one row; the bytes of a longer one are dropped. */
export const maxRowBytes = 64 * 1024 * 1024;

/**
 * Parses the object of one row; undefined bytes stand for a row that was too long. Throws SyntaxError when
 * it is not JSON.
 */
export function readJsonObject(bytes: Buffer | undefined, { subject, hint }: RowWording): RowContent {
  if (bytes === undefined) return unusable(`${subject} is longer than 64 MiB`);
  if (!isUtf8(bytes)) return notUtf8(subject, bytes);
  try {
    const value = parseLossless(bytes.toString('utf8'));
    if (isObject(value) && !JSON.isRawJSON(value)) return { usable: true, value };
    return unusable(`${subject} is ${Array.isArray(value) ? 'a list' : 'no JSON object'}`, hint);
  } catch (thrown) {
    // The walk over the parsed value is recursive.
    if (thrown instanceof RangeError) return unusable(`${subject} is nested too deeply`);
    throw thrown;
  }
}

import { isUtf8 } from 'node:buffer';
import { isObject, parseLossless } from '../../json/json.ts';
import { notUtf8, type RowContent, unusable } from './row.ts';

/** How a format calls the text of one row, and what it wants there. */
export interface JsonWords {
  /** Such as `the line`. */
  readonly subject: string;
  readonly hint: string;
}

/** Bytes that one row may have; more of them are not kept. */
export const maxRowBytes = 64 * 1024 * 1024;

/** The object that the bytes spell; undefined bytes were too many to keep. Throws SyntaxError when they are not JSON. */
export function readJsonObject(bytes: Buffer | undefined, { subject, hint }: JsonWords): RowContent {
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

/** V8's reason on one line, without where in the text it was: that looks like a line of the file and is none. */
export function wordSyntaxError(thrown: unknown): string {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return reason.replace(/ \(line \d+ column \d+\)$/, '').replaceAll(/\s+/g, ' ');
}

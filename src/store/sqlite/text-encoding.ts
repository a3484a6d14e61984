import { DamagedError } from './row.ts';

const MARK = 'json:';

/**
 * A string as SQLite can keep it: itself, except that NUL and lone surrogates, which the way through node:sqlite and UTF-8
 * cuts or replaces, go in as escapes of a JSON string.
 */
export function encodeText(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes('\0') && !text.startsWith(MARK);
  return isPlain ? text : MARK + JSON.stringify(text);
}

export function decodeText(kept: string): string {
  if (!kept.startsWith(MARK)) return kept;
  try {
    return String(JSON.parse(kept.slice(MARK.length)));
  } catch {
    throw new DamagedError('a text with escapes is cut off');
  }
}

import { isUtf8 } from 'node:buffer';
import { findUtf16 } from '../transport/utf16.ts';

/** What a process printed, as text. */
export interface PrintedText {
  readonly text: string;
  /** Whether bytes were no characters, and were replaced. */
  readonly isGarbled: boolean;
}

/**
 * Reads bytes as UTF-16 where they begin with its mark, else as UTF-8; a mark is no part of the text. PowerShell writes
 * UTF-16 wherever its output goes to a file.
 */
export function decodePrinted(bytes: Uint8Array): PrintedText {
  const form = findUtf16(bytes);
  if (form === undefined) return { text: new TextDecoder().decode(bytes), isGarbled: !isUtf8(bytes) };
  return { text: new TextDecoder(form).decode(bytes), isGarbled: !isWhole(bytes, form) };
}

function isWhole(bytes: Uint8Array, form: 'utf-16le' | 'utf-16be'): boolean {
  try {
    new TextDecoder(form, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

import { isUtf8 } from 'node:buffer';
import { findUtf16 } from '../transport/utf16.ts';

/** What a process printed, as text. */
export interface PrintedText {
  readonly text: string;
  /** Whether bytes were no characters, and were replaced. */
  readonly isGarbled: boolean;
}

/**
 * Reads bytes as UTF-16 where they begin with its mark, as PowerShell writes it, else as UTF-8. A mark is no part of the
 * text, but that of UTF-8 is where `keepsMark` says so.
 */
export function decodePrinted(
  bytes: Uint8Array,
  { keepsMark = false }: { readonly keepsMark?: boolean } = {},
): PrintedText {
  const form = findUtf16(bytes);
  if (form === undefined) {
    return {
      text: new TextDecoder('utf-8', { ignoreBOM: keepsMark }).decode(bytes),
      isGarbled: !isUtf8(bytes),
    };
  }
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

import { isUtf8 } from 'node:buffer';
import { detectUtf16 } from '../text/encoding/utf16.ts';

/** What a process printed, as text. */
export interface PrintedText {
  readonly text: string;
  /** Whether invalid bytes were replaced by U+FFFD. */
  readonly isGarbled: boolean;
}

/**
 * Decodes bytes as UTF-16 when they begin with its byte order mark, as PowerShell writes it, else as UTF-8.
 * The mark is removed, except that of UTF-8 with `keepsMark`.
 */
export function decodePrinted(
  bytes: Uint8Array,
  { keepsMark = false }: { readonly keepsMark?: boolean } = {},
): PrintedText {
  const form = detectUtf16(bytes);
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

/** The offset of the first invalid UTF-8 sequence: all bytes before it decode. */
export function invalidOffset(bytes: Uint8Array): number {
  let valid = 0;
  let invalid = bytes.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (middle <= bytes.length && wholeCharacters(bytes.subarray(0, middle)) !== undefined) valid = middle;
    else invalid = middle;
  }
  return Buffer.byteLength(wholeCharacters(bytes.subarray(0, valid)) ?? '');
}

/** The whole characters in a prefix of UTF-8; undefined when a byte in it is invalid. */
function wholeCharacters(prefix: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(prefix, { stream: true });
  } catch {
    return undefined;
  }
}

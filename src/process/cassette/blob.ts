import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Redact } from '../../contract/scrub.ts';

/** Content under its id, the SHA-256 of its bytes in hexadecimal. */
export interface Blob {
  readonly id: string;
  /** Its line, without the end. */
  readonly line: string;
}

export function textToBlob(text: string): Blob {
  const id = createHash('sha256').update(text).digest('hex');
  return { id, line: JSON.stringify({ blob: id, text }) };
}

/** Bytes that are no UTF-8 are searched for secrets byte by byte, and kept as Base64. */
export function bytesToBlob(bytes: Uint8Array, redact: Redact): Blob {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(buffer)) return textToBlob(redact(buffer.toString('utf8')));
  const kept = Buffer.from(redact(buffer.toString('latin1')), 'latin1');
  const id = createHash('sha256').update(kept).digest('hex');
  return { id, line: JSON.stringify({ blob: id, base64: kept.toString('base64') }) };
}

/** The bytes of a blob's line; undefined when it is no such line. */
export function readBlob(value: Readonly<Record<string, unknown>>): Buffer | undefined {
  const { text, base64 } = value;
  if (typeof text === 'string') return Buffer.from(text, 'utf8');
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : undefined;
}

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type Hmac,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { dirname } from 'node:path';
import { KEY_LENGTH, openKeyFile } from '../../base/files/key-file.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';

/** The secret by which a memo knows texts again without keeping them. */
export class MemoKey {
  readonly #secret: KeyObject;

  constructor(secret: Uint8Array) {
    this.#secret = createSecretKey(secret);
  }

  /** A name of these parts, in order, that tells nothing of them: HMAC-SHA-256 in base64url. */
  nameOf(purpose: string, ...parts: readonly (string | Uint8Array)[]): string {
    return hmacOf(this.#secret, [purpose, ...parts]).digest('base64url');
  }

  /** Encrypts a text so that it can be read again only with the same parts: AES-256-GCM under a key derived from them. */
  seal(text: string, ...parts: readonly string[]): string {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey(parts), nonce);
    const sealed = Buffer.concat([
      nonce,
      cipher.update(text, 'utf16le'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return sealed.toString('base64url');
  }

  /** The sealed text; undefined when it was sealed with another key or other parts, or is damaged. */
  open(sealed: string, ...parts: readonly string[]): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE + TAG) return undefined;
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#sealingKey(parts), bytes.subarray(0, NONCE), {
        authTagLength: TAG,
      });
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
      const text = decipher.update(bytes.subarray(NONCE, bytes.length - TAG));
      return Buffer.concat([text, decipher.final()]).toString('utf16le');
    } catch {
      return undefined;
    }
  }

  #sealingKey(parts: readonly string[]): Uint8Array {
    const salt = hmacOf(this.#secret, ['seal', ...parts]).digest();
    return new Uint8Array(hkdfSync('sha256', this.#secret, salt, 'signalbox memo', KEY_LENGTH));
  }
}

const NONCE = 12;
const TAG = 16;

/** HMAC of parts that cannot run into each other: each behind its length. One piece, since each piece costs. */
function hmacOf(key: KeyObject, parts: readonly (string | Uint8Array)[]): Hmac {
  const pieces = parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf16le') : part));
  const lengths = Buffer.alloc(4 * pieces.length);
  for (const [at, { length }] of pieces.entries()) lengths.writeUInt32LE(length, 4 * at);
  return createHmac('sha256', key).update(Buffer.concat([lengths, ...pieces]));
}

/** A key that ends with the process. */
export function createMemoKey(): MemoKey {
  return new MemoKey(randomBytes(KEY_LENGTH));
}

/** The key in a file for its owner alone, which is made when it is missing. Throws FILE_UNREADABLE, and what the system says. */
export function openMemoKey(file: string): MemoKey {
  makeFolder(dirname(file));
  return new MemoKey(openKeyFile(file));
}

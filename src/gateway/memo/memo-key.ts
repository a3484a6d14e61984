import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { KEY_LENGTH, openKeyFile } from '../../files/key-file.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';

/** The secret by which a memo knows texts again without keeping them. */
export class MemoKey {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** A name of these parts, in order, that tells nothing of them: HMAC-SHA-256 in base64url. */
  nameOf(purpose: string, ...parts: readonly (string | Uint8Array)[]): string {
    return hmacOf(this.#secret, [purpose, ...parts]).toString('base64url');
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
    const salt = hmacOf(this.#secret, ['seal', ...parts]);
    return new Uint8Array(hkdfSync('sha256', this.#secret, salt, 'signalbox memo', KEY_LENGTH));
  }
}

const NONCE = 12;
const TAG = 16;

/** HMAC of parts that cannot run into each other. */
function hmacOf(key: Uint8Array, parts: readonly (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf16le') : part;
    hmac.update(`${bytes.length}:`).update(bytes);
  }
  return hmac.digest();
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

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';
import { createAtomically } from '../../store/sqlite/new-file.ts';

const LENGTH = 32;

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
    return new Uint8Array(hkdfSync('sha256', this.#secret, salt, 'signalbox memo', LENGTH));
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
  return new MemoKey(randomBytes(LENGTH));
}

/** The key in a file for its owner alone, which is made when it is missing. Throws STORE_FAILED, and what the system says. */
export function openMemoKey(file: string): MemoKey {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) {
    makeFolder(dirname(file));
    createAtomically(file, (draft) => writePrivate(draft, randomBytes(LENGTH)));
  }
  // Whichever process was first.
  const secret = readFileSync(file);
  if (secret.length === LENGTH) return new MemoKey(secret);
  throw new RuntimeError('STORE_FAILED', `${file} is no key: it has ${secret.length} bytes, not ${LENGTH}`, {
    hint: `Restore ${file}, or remove it: what was remembered under it is then forgotten.`,
  });
}

function writePrivate(file: string, bytes: Uint8Array): void {
  const fd = openSync(file, 'wx', 0o600);
  try {
    writeSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

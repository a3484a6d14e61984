import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { RuntimeError } from '../errors.ts';
import { createAtomically, writeDurably } from './new-file.ts';

/** In bytes. */
export const KEY_LENGTH = 32;

/**
 * Reads a secret key file, or creates one that only its owner can read. Concurrent processes create one key. Throws
 * FILE_UNREADABLE if the file is not a key, or the system error.
 */
export function openKeyFile(file: string): Buffer {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) {
    createAtomically(file, (draft) => writeDurably(draft, randomBytes(KEY_LENGTH), 0o600));
  }
  const secret = readFileSync(file);
  if (secret.length === KEY_LENGTH) return secret;
  const message = `${file} is not a key file: it has ${secret.length} bytes, not ${KEY_LENGTH}`;
  throw new RuntimeError('FILE_UNREADABLE', message, {
    hint: 'Restore the file, or remove it. Without the old key, hashes and marks that it made are no longer recognised.',
  });
}

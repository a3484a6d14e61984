import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { RuntimeError } from '../errors.ts';
import { createAtomically, writeDurably } from './new-file.ts';

/** The length of a secret key, in bytes. */
export const KEY_LENGTH = 32;

/**
 * The secret key in a file for its owner alone, which is made when it is missing; of several processes that come at once
 * one makes it. Throws FILE_UNREADABLE when the file is no key, and what the system says.
 */
export function openKeyFile(file: string): Buffer {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) {
    createAtomically(file, (draft) => writeDurably(draft, randomBytes(KEY_LENGTH), 0o600));
  }
  const secret = readFileSync(file);
  if (secret.length === KEY_LENGTH) return secret;
  const message = `${file} is no key: it has ${secret.length} bytes, not ${KEY_LENGTH}`;
  throw new RuntimeError('FILE_UNREADABLE', message, {
    hint: 'Restore the file, or remove it: what was made with its key is then not known again.',
  });
}

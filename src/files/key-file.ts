import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { RuntimeError } from '../errors.ts';

/** The length of a secret key, in bytes. */
export const KEY_LENGTH = 32;

/**
 * The secret key in a file for its owner alone, which is made when it is missing; of several processes that come at once
 * one makes it. Throws FILE_UNREADABLE when the file is no key, and what the system says.
 */
export function openKeyFile(file: string): Buffer {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) makeKeyFile(file);
  const secret = readFileSync(file);
  if (secret.length === KEY_LENGTH) return secret;
  const message = `${file} is no key: it has ${secret.length} bytes, not ${KEY_LENGTH}`;
  throw new RuntimeError('FILE_UNREADABLE', message, {
    hint: 'Restore the file, or remove it: what was made with its key is then not known again.',
  });
}

/** Under a draft name first, so that nobody reads half a key. */
function makeKeyFile(file: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    writePrivate(draft, randomBytes(KEY_LENGTH));
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
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

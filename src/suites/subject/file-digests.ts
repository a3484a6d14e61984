import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** The names among these words that are files, as seen from `folder`, each with a digest of its bytes. */
export function digestFiles(words: readonly string[], folder: string): [name: string, digest: string][] {
  const names = [...new Set(words)].filter((word) => word !== '' && isFile(resolve(folder, word)));
  return names.map((name) => [name, digestFile(resolve(folder, name))]);
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    // The word is not a possible path, or a folder on it cannot be read.
    return false;
  }
}

/** The digest of a file; `unreadable` when it cannot be read, which its use will report. */
function digestFile(path: string): string {
  const hash = createHash('sha256');
  try {
    const fd = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(64 * 1024);
      for (let size = 1; size > 0; ) {
        size = readSync(fd, buffer);
        hash.update(buffer.subarray(0, size));
      }
    } finally {
      closeSync(fd);
    }
  } catch {
    return 'unreadable';
  }
  return hash.digest('hex');
}

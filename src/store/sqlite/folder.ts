import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Makes the folder, for its owner alone, if it is missing, so that it is there after a power cut. Throws what the system says. */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  // What is in it are arguments and answers of tools: they must not get into a repository by accident.
  if (basename(folder) === '.signalbox') writeFileSync(join(folder, '.gitignore'), '*\n');
  for (let made = folder; ; made = dirname(made)) {
    syncFolder(dirname(made));
    if (made === first || dirname(made) === made) return;
  }
}

/** Makes an empty file that only its owner may read, unless there is one. */
export function makePrivateFile(file: string): void {
  try {
    // Only ever a file of our own making: to close a descriptor of a database drops the locks that this process has on it.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Windows and some network file systems cannot; there the folder is as durable as they make it.
  }
}

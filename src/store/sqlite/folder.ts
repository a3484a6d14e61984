import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../base/files/new-file.ts';

/**
 * Creates the folder, for its owner alone, if it is missing, and syncs its parent. Throws the system's error.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  // Not by `recursive`: Node then never returns where the system refuses a new folder with ENOENT, as below /proc.
  if (parent !== folder) makeFolder(parent);
  if (!makeSingleFolder(folder)) return;
  // What is in it are arguments and answers of tools: they must not get into a repository by accident.
  if (basename(folder) === '.signalbox') writeFileSync(join(folder, '.gitignore'), '*\n', { mode: 0o600 });
  syncFolder(parent);
}

/** Makes one folder, for its owner alone; false if it is there already. Throws what the system says. */
export function makeSingleFolder(folder: string): boolean {
  return createIfMissing(() => mkdirSync(folder, 0o700));
}

/** Makes an empty file that only its owner may read, unless there is one. Throws what the system says. */
export function makePrivateFile(file: string): void {
  // Only ever a file of our own making: to close a descriptor of a database drops the locks that this process has on it.
  createIfMissing(() => closeSync(openSync(file, 'wx', 0o600)));
}

function createIfMissing(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../base/files/new-file.ts';

/** Creates the folder for its owner only, and syncs its parent. Throws the system error. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  // Not `recursive`: Node never returns if the system refuses a new folder with ENOENT, as below /proc.
  if (parent !== folder) makeFolder(parent);
  if (!makeSingleFolder(folder)) return;
  // Arguments and answers of tools must not enter a repository by accident.
  if (basename(folder) === '.signalbox') writeFileSync(join(folder, '.gitignore'), '*\n', { mode: 0o600 });
  syncFolder(parent);
}

/** Private to its owner; false if it exists. Throws the system error. */
export function makeSingleFolder(folder: string): boolean {
  return createIfMissing(() => mkdirSync(folder, 0o700));
}

/** Creates an empty file for its owner only, unless it exists. Throws the system error. */
export function makePrivateFile(file: string): void {
  // Only for a new file: closing a descriptor of a database drops this process's locks on it.
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

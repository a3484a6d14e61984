import { randomBytes } from 'node:crypto';
import { linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { RuntimeError } from '../../errors.ts';
import { syncFolder } from './folder.ts';

/**
 * Whether there is no such file yet. Throws STORE_FAILED where a file has lost its content, so that it is not
 * replaced by a new, empty store.
 */
export function isMissing(file: string): boolean {
  const size = sizeOf(file);
  if (size === 0 && statSync(file).isFile()) {
    throw new RuntimeError('STORE_FAILED', `the state store ${file} is damaged: the file is empty`, {
      hint: `Restore a backup of ${file}; without one remove it, and a new store begins empty.`,
    });
  }
  if (size !== undefined) return false;
  // The -wal file is written only after the file exists.
  if ((sizeOf(`${file}-wal`) ?? 0) === 0 || sizeOf(file) !== undefined) return sizeOf(file) === undefined;
  throw new RuntimeError('STORE_FAILED', `the state store ${file} is gone, and ${file}-wal is still there`, {
    hint: `Put ${file} back, or restore a backup; without one remove ${file}-wal, and a new store begins empty.`,
  });
}

/** Undefined where there is none. Throws what the system says. */
function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

/**
 * Writes a file under a draft name and links it to its own in one step; a file that is there by then stays.
 * Throws what the system says.
 */
export function createAtomically(file: string, write: (draft: string) => void): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    write(draft);
    linkDraft(draft, file);
    syncFolder(dirname(file));
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${draft}${end}`, { force: true });
  }
}

function linkDraft(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return;
    // A file system without links; two processes at once may collide there, and one of them fails.
    if (sizeOf(file) === undefined) renameSync(draft, file);
  }
}

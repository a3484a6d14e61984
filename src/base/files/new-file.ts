import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a draft and links it to `file` in one step; an existing file stays. `sideEnds` are suffixes of files that
 * `write` may leave beside the draft. Throws the system error.
 */
export function createAtomically(
  file: string,
  write: (draft: string) => void,
  sideEnds: readonly string[] = [],
): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    write(draft);
    linkDraft(draft, file);
    syncFolder(dirname(file));
  } finally {
    for (const end of ['', ...sideEnds]) rmSync(`${draft}${end}`, { force: true });
  }
}

/** Writes a draft and renames it to `file`. Throws the system error. */
export function replaceAtomically(file: string, write: (draft: string) => void): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  try {
    write(draft);
    renameSync(draft, file);
    syncFolder(dirname(file));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Creates a new file and syncs it to disk. Throws the system error. */
export function writeDurably(file: string, content: string | Uint8Array, mode: number): void {
  const fd = openSync(file, 'wx', mode);
  try {
    const bytes = Buffer.from(content);
    for (let start = 0; start < bytes.length; ) start += writeSync(fd, bytes, start);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Syncs the folder's entries to disk where the system supports it. Never throws. */
export function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Windows and some network file systems cannot sync a folder.
  }
}

function linkDraft(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    // The file system has no links. If two processes collide here, one of them fails.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) renameSync(draft, file);
  }
}

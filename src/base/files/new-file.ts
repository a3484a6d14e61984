import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a file under a draft name and links it to its own in one step; a file that is there by then stays. `sideEnds` are the
 * ends of names of what `write` may leave beside the draft. Throws what the system says.
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

/** Writes a file under a draft name and puts it in the place of the one that is there. Throws what the system says. */
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

/** Makes a file that is not there yet, on the disk when this returns. Throws what the system says. */
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

/** Has the names in a folder written to the disk, as far as that can be had. Never throws. */
export function syncFolder(folder: string): void {
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

function linkDraft(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    // A file system without links; two processes at once may collide there, and one of them fails.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) renameSync(draft, file);
  }
}

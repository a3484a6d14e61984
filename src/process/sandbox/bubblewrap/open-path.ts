import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { holds } from '../../../base/files/holds.ts';

/** A file or folder that stays the same one, whatever is moved or linked at its path. */
export interface OpenedPath {
  /** Of a kind that reads nothing (O_PATH); whoever opened it closes it. */
  readonly fd: number;
  /** The path without links. */
  readonly real: string;
  readonly isFolder: boolean;
}

/**
 * Opens a path step by step. A link that stands in one of the `writable` folders, or below, is not followed: a sandboxed process
 * may have made it. Throws an Error that says why not.
 */
export function openPath(path: string, writable: readonly string[]): OpenedPath {
  let names = namesOf(path);
  let real = '/';
  let fd = openSync('/', O_PATH);
  try {
    for (let links = 0, name = names.shift(); name !== undefined; name = names.shift()) {
      // Relative to the descriptor, so that nobody can put another folder in the place of the one that was looked at.
      const place = `/proc/self/fd/${fd}/${name}`;
      const next = openSync(place, O_PATH | constants.O_NOFOLLOW);
      if (!fstatSync(next).isSymbolicLink()) {
        closeSync(fd);
        fd = next;
        real = join(real, name);
        continue;
      }
      closeSync(next);
      if (writable.some((folder) => holds(folder, real)))
        throw new Error(`${join(real, name)} is a link, and a sandboxed process may write where it stands`);
      links += 1;
      if (links > MAX_LINKS) throw new Error(`ELOOP: too many links in ${path}`);
      names = [...namesOf(resolve(real, readlinkSync(place))), ...names];
      closeSync(fd);
      real = '/';
      fd = openSync('/', O_PATH);
    }
    return { fd, real, isFolder: fstatSync(fd).isDirectory() };
  } catch (error) {
    closeSync(fd);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === undefined) throw error;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be opened (${code})`;
    throw new Error(`${path} ${why}`, { cause: error });
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

/** Source: <asm-generic/fcntl.h>; Node does not export it. The same on every architecture that Node runs on. */
export const O_PATH = 0o10000000;
/** Source: MAXSYMLINKS of the kernel. */
const MAX_LINKS = 40;

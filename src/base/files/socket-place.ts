import { lstatSync, mkdirSync } from 'node:fs';

export interface SocketPlace {
  /** Only this user may look into it. */
  readonly folder: string;
  readonly socket: string;
  /** Exists while the user wants a process to listen there. */
  readonly wanted: string;
}

/** The place of the socket for files, which are absolute paths. Loads no module that Node has not loaded. */
export function socketPlace(
  files: readonly string[],
  { XDG_RUNTIME_DIR: runtime = '' }: Readonly<Record<string, string | undefined>>,
): SocketPlace {
  const base = runtime.startsWith('/') && runtime.length <= LONGEST_BASE ? runtime : '/tmp';
  const folder = `${base}/signalbox-${process.getuid?.() ?? 'user'}`;
  const name = hashOf(files.join('\n'));
  return { folder, socket: `${folder}/${name}.sock`, wanted: `${folder}/${name}.wanted` };
}

/** The path of a socket may have 104 bytes on macOS. */
const LONGEST_BASE = 50;

/** Whether a folder or a socket belongs to this user, and no other user can have put it there. */
export function isPrivate(path: string, kind: 'folder' | 'socket'): boolean {
  try {
    const stat = lstatSync(path);
    if (stat.uid !== process.getuid?.()) return false;
    return kind === 'socket' ? stat.isSocket() : stat.isDirectory() && (stat.mode & OTHERS) === 0;
  } catch {
    return false;
  }
}

const OTHERS = 0o077;

/** Creates the folder if missing. Throws Error if another user may have created it, or the system error. */
export function makePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (isPrivate(folder, 'folder')) return;
    throw new Error(`${folder} is not a folder that only this user can use`, { cause: error });
  }
}

/**
 * A name of 64 bits for a text: two sums like FNV-1a over its UTF-16 units. It only names files: the resident compares the
 * text itself. A digest of node:crypto would take 4 ms to load.
 */
function hashOf(text: string): string {
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit ^ (other >>> 15), 0x85ebca6b);
  }
  return [one, other].map((sum) => (sum >>> 0).toString(16).padStart(8, '0')).join('');
}

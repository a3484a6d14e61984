import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { RuntimeError } from '../../base/errors.ts';
import { isRemote } from './remote/address.ts';

export function isPattern(path: string): boolean {
  return /[*?[{]|[!@+]\(/.test(path);
}

/**
 * Returns the path itself if the file exists or the path is an address. Otherwise returns the sorted matches of the
 * glob pattern. Throws FILE_UNREADABLE if nothing matches.
 */
export async function findFiles(path: string): Promise<readonly string[]> {
  if (path === '-' || isRemote(path) || !isPattern(path) || existsSync(path)) return [path];
  const { folder, pattern } = splitPattern(path);
  const found = await glob(pattern, { cwd: resolve(folder), expandDirectories: false });
  if (found.length > 0) return found.map((file) => join(folder, file)).toSorted();
  throw new RuntimeError('FILE_UNREADABLE', `no file matches ${path}`);
}

/** Leading folders that exist are literal, even if their names look like patterns. */
function splitPattern(path: string): { folder: string; pattern: string } {
  const parts = path.split('/');
  let folders = 0;
  while (folders < parts.length - 1 && existsSync(`${parts.slice(0, folders + 1).join('/')}/`)) folders += 1;
  return {
    folder: folders === 0 ? '' : `${parts.slice(0, folders).join('/')}/`,
    pattern: parts.slice(folders).join('/'),
  };
}

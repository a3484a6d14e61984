import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathArgumentOf } from '../dialects/chibi/permission.ts';
import { isObject, type Json } from '../json/json.ts';

/**
 * The real path, from `folder`, of the path among a call's arguments; undefined without one or for `vfs://`.
 */
export function findPath(folder: string, args: Json): string | undefined {
  const named = isObject(args.value) ? pathArgumentOf(args.value) : undefined;
  if (typeof named !== 'string' || named === '' || named.startsWith('vfs://')) return undefined;
  return followLinks(resolve(folder, named));
}

/** The path with all links resolved; for a missing file, those of its nearest existing folder. */
export function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(followLinks(parent), basename(path));
  }
}

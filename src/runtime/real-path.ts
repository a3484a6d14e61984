import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathAmong } from '../dialects/chibi/permission.ts';
import { isObject, type Json } from '../json/json.ts';

/** Where the path among a call's arguments leads, from that folder on; undefined without one, or for a `vfs://` path. */
export function findPath(folder: string, args: Json): string | undefined {
  const named = isObject(args.value) ? pathAmong(args.value) : undefined;
  if (typeof named !== 'string' || named === '' || named.startsWith('vfs://')) return undefined;
  return followLinks(resolve(folder, named));
}

/** The path with all links followed: of what does not exist, those of the nearest folder that does. */
export function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(followLinks(parent), basename(path));
  }
}

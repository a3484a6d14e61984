import { resolve } from 'node:path';
import { followLinks } from '../base/files/real-path.ts';
import { isObject, type Json } from '../base/json/json.ts';
import { pathArgumentOf } from '../dialects/tool-path.ts';

/**
 * The real path, from `folder`, of the path among a call's arguments; undefined without one or for `vfs://`.
 */
export function findPath(folder: string, args: Json): string | undefined {
  const named = isObject(args.value) ? pathArgumentOf(args.value) : undefined;
  if (typeof named !== 'string' || named === '' || named.startsWith('vfs://')) return undefined;
  return followLinks(resolve(folder, named));
}

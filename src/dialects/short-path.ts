import { isAbsolute, relative } from 'node:path';

/** A path as a config file in `folder` would write it. */
export function shortPath(path: string, folder: string): string {
  const short = relative(folder, path);
  if (short === '') return '.';
  return short.startsWith('..') || isAbsolute(short) ? short : `./${short}`;
}

import { dirname, isAbsolute, join } from 'node:path';

/** A path that a file names: relative ones start in the file's own folder. */
export function besideFile(file: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

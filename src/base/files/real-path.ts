import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The path with all links resolved; for a missing file, those of its nearest existing folder. */
export function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(followLinks(parent), basename(path));
  }
}

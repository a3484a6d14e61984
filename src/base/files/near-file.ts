import { readdirSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { findNearest } from '../text/suggest.ts';

/** A hint that names the file of the same folder whose name is nearest; undefined where none is near. */
export function nearFileHint(path: string, folder = '.'): string | undefined {
  const name = basename(path);
  const nearest = findNearest(name, namesIn(dirname(resolve(folder, path))));
  if (nearest === undefined || nearest === name) return undefined;
  return `did you mean \`${path.slice(0, path.length - name.length)}${nearest}\`?`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { findNearest } from '../text/suggest.ts';

/** Resolves all links; for a missing file, those of its nearest existing folder. */
export function followLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(followLinks(parent), basename(path));
  }
}

/** Whether `path` is `folder` or inside it. Both must be absolute and without `..`. */
export function holds(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** Creates a folder and its missing parents. Throws the system error. */
export function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  // Node's `recursive` option never returns if the system refuses a new folder with ENOENT, as below /proc.
  if (parent !== folder) makeFolders(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** A hint that names the most similar file in the same folder; undefined if none is similar. */
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

/**
 * A safe name of one file or folder for any text. Different texts get different names, also on file systems that ignore
 * case or Unicode normalization. No name contains a separator or is `..`.
 */
export function toFileName(text: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) return text;
  // JSON escapes lone surrogates, which have no UTF-8 form.
  const digest = createHash('sha256').update(JSON.stringify(text)).digest('hex').slice(0, 32);
  const readable = text
    .slice(0, 40)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  // A text that is used as its own name has no tilde, so the two forms never collide.
  return `${readable}~${digest}`;
}

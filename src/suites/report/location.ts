import { isAbsolute, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The file from the current folder, with slashes; undefined where it lies elsewhere, or is stdin. */
export function toLocalPath(file: string): string | undefined {
  if (isStdin(file)) return undefined;
  const path = relative('', resolve(file));
  const isOutside = path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  return isOutside ? undefined : path.split(sep).join('/');
}

/** The file as a URI: relative below the current folder, else absolute; undefined of stdin. */
export function toUri(file: string): string | undefined {
  if (isStdin(file)) return undefined;
  const path = toLocalPath(file);
  return path === undefined
    ? pathToFileURL(resolve(file)).href
    : path.split('/').map(encodeSegment).join('/');
}

function isStdin(file: string): boolean {
  return file === '-' || file === '<stdin>';
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment.toWellFormed());
}

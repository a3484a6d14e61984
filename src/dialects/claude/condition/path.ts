import { isAbsolute, join, relative } from 'node:path/posix';
import { matchesGlob } from './glob.ts';

/** Where relative patterns begin. */
export interface Roots {
  readonly cwd: string;
  readonly projectDir: string;
}

/**
 * Whether a path is one that a permission rule names, in the manner of .gitignore: `src/**` in the working directory,
 * `/src` in the project, `//etc` from the root, a bare name at any depth. Any other syntax matches.
 */
export function matchesPath(pattern: string, path: string, { cwd, projectDir }: Roots): boolean {
  if (/[[\]{}\\!]/.test(pattern)) return true;
  const absolute = isAbsolute(path) ? join(path) : join(cwd, path);
  if (pattern.startsWith('//')) return isBelow(pattern.slice(1), absolute);
  if (pattern.startsWith('~/')) return isBelow(`**/${pattern.slice(2)}`, absolute);
  if (pattern.startsWith('/')) return isBelow(pattern, absolute) || isWithin(pattern, projectDir, absolute);
  const bare = pattern.replace(/^\.\//, '');
  const isAnywhere = bare.startsWith('**') || !bare.replace(/\/$/, '').includes('/');
  return isAnywhere ? isBelow(`**/${bare}`, absolute) : isWithin(bare, cwd, absolute);
}

function isWithin(pattern: string, root: string, absolute: string): boolean {
  const path = relative(root, absolute);
  return path !== '..' && !path.startsWith('../') && isBelow(pattern, path);
}

/** Whether the pattern names the path or a folder above it. */
function isBelow(pattern: string, path: string): boolean {
  return matchesSegments(segmentsOf(pattern), segmentsOf(path));
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.');
}

/**
 * Whether the pattern matches the path or a folder above it, segment by segment; `**` is any number of them.
 */
function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const segment of pattern) {
    const next = new Set<number>();
    if (segment === '**') {
      const [first = path.length + 1] = reached;
      for (let to = first; to <= path.length; to++) next.add(to);
    }
    for (const at of segment === '**' ? [] : reached) {
      const name = path[at];
      if (name !== undefined && matchesGlob(segment, name)) next.add(at + 1);
    }
    reached = next;
  }
  return reached.size > 0;
}

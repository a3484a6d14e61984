import { existsSync, mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

/**
 * Enables Node's compile cache in `signalbox` below the user's cache folder. NODE_COMPILE_CACHE names another folder,
 * NODE_DISABLE_COMPILE_CACHE disables it. Does nothing if the folder is unavailable or others may write to it. Never
 * throws.
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): void {
  const isSettled = ['NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE'].some(
    (name) => (env[name] ?? '') !== '',
  );
  const folder = isSettled ? undefined : cacheFolder(env);
  if (folder === undefined) return;
  try {
    if (isOurs(folder)) enableCompileCache(folder);
  } catch {
    // A read-only or full disk only makes the start slower.
  }
}

/** Source: XDG Base Directory Specification, which ignores relative paths. */
function cacheFolder({
  XDG_CACHE_HOME = '',
  HOME = '',
}: Readonly<Record<string, string | undefined>>): string | undefined {
  const caches = isAbsolute(XDG_CACHE_HOME)
    ? XDG_CACHE_HOME
    : isAbsolute(HOME)
      ? join(HOME, '.cache')
      : undefined;
  return caches && join(caches, 'signalbox');
}

/** Creates the folder if missing. Node runs the cached code unchecked, so no other user may write to it. */
function isOurs(folder: string): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false }) ?? makeFolder(folder);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & WRITABLE_BY_OTHERS) === 0;
}

function makeFolder(folder: string) {
  const caches = dirname(folder);
  // Node's `recursive` option never returns if the home folder is below /proc.
  if (!existsSync(caches)) mkdirSync(caches, { mode: 0o700 });
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
  return statSync(folder);
}

const WRITABLE_BY_OTHERS = 0o022;

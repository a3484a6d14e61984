import { existsSync, mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

/**
 * Lets Node keep compiled code from one start to the next, in `signalbox` of the user's folder for caches, unless
 * NODE_COMPILE_CACHE names another or NODE_DISABLE_COMPILE_CACHE forbids it. Where that folder cannot be had, or might be
 * written by somebody else, nothing is kept. Never throws.
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
    // A read-only or full disk: a start then takes longer, and nothing else.
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

/**
 * Whether the folder, which is made where there is none, is this user's alone to write: compiled code is run as it is found.
 * Throws what the system says.
 */
function isOurs(folder: string): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false }) ?? makeFolder(folder);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & WRITABLE_BY_OTHERS) === 0;
}

function makeFolder(folder: string) {
  const caches = dirname(folder);
  // Node's own way to make several at once never ends where /proc is the home.
  if (!existsSync(caches)) mkdirSync(caches, { mode: 0o700 });
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another first start was faster.
    if (!existsSync(folder)) throw error;
  }
  return statSync(folder);
}

const WRITABLE_BY_OTHERS = 0o022;

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createExecutableFinder } from '../../base/files/executable.ts';
import type { Binding } from '../../process/binding.ts';

/** Tells hooks, and the versions of a hook, from one another. */
export interface HookIdentities {
  /** Another one after any change of the hook's entry, or of a file that its command line names. */
  of(binding: Binding): string;
}

/**
 * Reads a file again only when it has become another one. With `isShared` the same files are the same on every machine, however
 * large they are.
 */
export function createHookIdentities({
  isShared = false,
}: {
  readonly isShared?: boolean;
} = {}): HookIdentities {
  const find = createExecutableFinder();
  const digestOf = createFileDigests(isShared ? LARGEST_SHARED_READ : LARGEST_READ);
  return {
    of: (binding) => {
      const { name, dialect, mode, command, args, cwd, env } = binding;
      const found = find(command, cwd, env['PATH'] ?? '');
      const program = found.found ? [found.path, ...(found.leading ?? [])] : [];
      const files = [...program, ...args.map((arg) => resolve(cwd, arg))];
      return JSON.stringify({ name, dialect, mode, command, args, cwd, env, files: files.map(digestOf) });
    },
  };
}

/** Tells a regular file from another one; null for what is none, or cannot be read. */
function createFileDigests(largest: bigint): (file: string) => string | null {
  const known = new Map<string, { readonly signature: string; readonly digest: string }>();
  return (file) => {
    try {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      if (stat === undefined || !stat.isFile()) return null;
      const signature = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(':');
      if (stat.size > largest) return signature;
      const last = known.get(file);
      if (last?.signature === signature) return last.digest;
      const digest = createHash('sha256').update(readFileSync(file)).digest('base64url');
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(file, { signature, digest });
      return digest;
    } catch {
      return null;
    }
  };
}

/** Bytes. A larger file, such as an interpreter, is told by its size and times. */
const LARGEST_READ = 4n * 1024n * 1024n;
/** Bytes. An interpreter is read once, which takes a fraction of a second. */
const LARGEST_SHARED_READ = 256n * 1024n * 1024n;
const MAX_KNOWN = 1_000;

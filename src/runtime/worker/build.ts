import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { whyUnreadable } from '../../base/files/file-error.ts';
import type { Binding } from '../../process/binding.ts';

/**
 * Identifies what executes a run: a digest of the text of its pipeline (empty for a tool call), of the config, and of
 * the scripts below the config's folder. It does not depend on the path of the folder. Throws FILE_UNREADABLE if the
 * config cannot be read.
 */
export interface BuildOf {
  (source: string): string;
  /** The current digests of those scripts, by path in the config's folder. */
  programs(): Readonly<Record<string, string>>;
}

export function createBuildOf(
  file: string,
  bindings: readonly Binding[],
  overlays: readonly string[] = [],
): BuildOf {
  let base: string | undefined;
  const files = [file, ...overlays].map((each) => resolve(each));
  const programs = () => digestPrograms(dirname(files[0] ?? ''), bindings);
  const buildOf = (source: string): string => {
    base ??= digestConfig(files, programs());
    return createHash('sha256').update(`${base}\n${source}`).digest('hex').slice(0, BUILD_LENGTH);
  };
  return Object.assign(buildOf, { programs });
}

const BUILD_LENGTH = 32;

function digestConfig(files: readonly string[], programs: ReturnType<BuildOf['programs']>): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readConfig(file));
  for (const [name, digest] of Object.entries(programs)) hash.update(`\n${JSON.stringify(name)} ${digest}`);
  return hash.digest('hex');
}

function readConfig(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, { cause });
  }
}

function digestPrograms(folder: string, bindings: readonly Binding[]): Readonly<Record<string, string>> {
  const words = bindings.flatMap(({ command, args, cwd }) =>
    [command, ...args].map((word) => resolve(cwd, word)),
  );
  const scripts = [...new Set(words)]
    .map((path) => [relative(folder, path), path] as const)
    .filter(([name, path]) => !name.startsWith('..') && name !== '' && isFile(path))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(scripts.map(([name, path]) => [name, digestOf(path)]));
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

/** `unreadable` if the file cannot be read; its use reports that. */
function digestOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return 'unreadable';
  }
}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { whyUnreadable } from '../../base/files/file-error.ts';

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const deepest = 20;

/**
 * The YAML and JSON files in and below a folder, sorted by path, without hidden folders and node_modules. Throws
 * FILE_UNREADABLE.
 */
export function documentsIn(folder: string, depth = 0): readonly string[] {
  if (depth > deepest) return [];
  const entries = withFileError(folder, () => readdirSync(folder, { withFileTypes: true }));
  return entries
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return documentsIn(path, depth + 1);
      return /\.(ya?ml|json)$/i.test(entry.name) && isFile(path) ? [path] : [];
    });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * The configs, suites and pipelines in and below a folder, except files that git ignores. Of PromptKit's files, only
 * RuntimeConfigs are included.
 */
export async function checkableIn(folder: string): Promise<readonly string[]> {
  const found = documentsIn(folder).filter((file) => {
    const version = saysOf(file, 'apiVersion') ?? '';
    if (version.startsWith('signalbox/')) return saysOf(file, 'kind') !== undefined;
    return version.startsWith('promptkit.') && saysOf(file, 'kind') === 'RuntimeConfig';
  });
  if (!isInRepository(resolve(folder))) return found;
  // Imported here because the process module takes long to load.
  const { listIgnored } = await import('../../process/launch/try-script.ts');
  const ignored = await listIgnored(folder, ['./', ...found.map((file) => relative(folder, file))]);
  // If git ignores the folder itself, the caller asked for it on purpose.
  return ignored.has('./') ? found : found.filter((file) => !ignored.has(relative(folder, file)));
}

function isInRepository(folder: string): boolean {
  const above = dirname(folder);
  return existsSync(join(folder, '.git')) || (above !== folder && isInRepository(above));
}

/** Reads a top-level key from the text, so that a file with a YAML error has one too. */
export function saysOf(file: string, key: 'kind' | 'apiVersion'): string | undefined {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largestFile) return undefined;
  const text = withFileError(file, () => readFileSync(file, 'utf8'));
  const pattern = /\.json$/i.test(file)
    ? `"${key}"\\s*:\\s*"([^"]*)"`
    : `^\\uFEFF?["']?${key}["']?:[ \\t]*["']?([\\w./-]+)`;
  return new RegExp(pattern, 'm').exec(text)?.[1];
}

const largestFile = 8 * 2 ** 20;

function withFileError<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new RuntimeError('FILE_UNREADABLE', `${path} ${whyUnreadable(cause)}`, { cause });
  }
}

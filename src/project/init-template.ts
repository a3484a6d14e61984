import { chmodSync, copyFileSync, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RuntimeError } from '../errors.ts';
import { makeFolders } from '../files/make-folders.ts';

const template = fileURLToPath(new URL('../../examples/quickstart', import.meta.url));

/**
 * Copies the quickstart into `folder` and returns the files written. Throws USAGE when one of them is there
 * already, and then writes nothing; and when the folder cannot be written.
 */
export function writeTemplate(folder: string): string[] {
  const files = listFiles(template).map((file) => relative(template, file));
  const existing = files.filter((file) => existsSync(join(folder, file)));
  if (existing.length > 0) {
    const hint = 'Choose an empty folder: `signalbox init NEW_FOLDER`.';
    throw new RuntimeError(
      'USAGE',
      `${join(folder, existing[0] ?? '')} is there already; nothing was written`,
      { hint },
    );
  }
  try {
    return files.map((file) => writeCopy(join(template, file), join(folder, file)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RuntimeError('USAGE', `${folder} cannot be written (${reason})`, {
      hint: 'Choose a folder that you may write.',
      cause: error,
    });
  }
}

function writeCopy(source: string, target: string): string {
  makeFolders(dirname(target));
  copyFileSync(source, target);
  // A package manager may install files read-only; what `init` writes is there to be edited.
  chmodSync(target, statSync(source).mode | 0o600);
  return target;
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return entry.name === '.signalbox' || entry.name === '__pycache__' ? [] : listFiles(path);
    return [path];
  });
}

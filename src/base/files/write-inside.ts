import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RuntimeError } from '../errors.ts';
import { systemCode } from './file-error.ts';
import { replaceAtomically, writeDurably } from './new-file.ts';

interface NamedText {
  readonly name: string;
  readonly text: string;
}

/**
 * Writes files into a folder, which is created if missing. Follows no links, neither in the folder's path nor at a
 * file. Existing files stay, unless `replace` is set; then each is replaced in one step. Throws USAGE; a name that is
 * taken is reported before anything is written.
 */
export function writeInside(folder: string, files: readonly NamedText[], replace: boolean): void {
  const target = resolve(folder);
  for (const { name } of files)
    if (name !== basename(name) || name === '' || name === '.' || name === '..')
      throw new RuntimeError('INTERNAL', `${JSON.stringify(name)} is not a valid file name`);
  requireNoLink(target);
  const taken = files.find(({ name }) => isTaken(join(target, name), replace));
  if (taken !== undefined) {
    const hint = 'Name another folder with --output, or overwrite it with --force.';
    throw new RuntimeError('USAGE', `${join(folder, taken.name)} already exists`, { hint });
  }
  try {
    makeFoldersWithoutLinks(target);
    for (const { name, text } of files) writeOne(join(target, name), text, replace);
  } catch (cause) {
    if (cause instanceof RuntimeError) throw cause;
    throw cannotWrite(folder, cause, 'Name another folder with --output.');
  }
}

/** Creates or replaces one file in one step and follows no links. Throws USAGE. */
export function writeWithoutLinks(file: string, text: string, hint: string): void {
  requireNoLink(resolve(file));
  try {
    writeOne(resolve(file), text, true);
  } catch (cause) {
    throw cannotWrite(file, cause, hint);
  }
}

function cannotWrite(file: string, cause: unknown, hint: string): RuntimeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RuntimeError('USAGE', `${file} cannot be written (${reason})`, { hint, cause });
}

function isTaken(file: string, replace: boolean): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat !== undefined && (!replace || stat.isDirectory());
}

function writeOne(file: string, text: string, replace: boolean): void {
  const mode = lstatSync(file, { throwIfNoEntry: false })?.mode;
  // `wx` opens with O_EXCL, which follows no link either; a rename replaces a link by the new file.
  if (replace) replaceAtomically(file, (draft) => writeDurably(draft, text, (mode ?? 0o666) & 0o777));
  else writeDurably(file, text, 0o666);
}

/** Throws USAGE for a link in the path, except directly under the root, as with /tmp on macOS. */
function requireNoLink(path: string): void {
  const parent = dirname(path);
  if (parent === path || dirname(parent) === parent) return;
  requireNoLink(parent);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  throw new RuntimeError('USAGE', `${path} is a link, and Signalbox does not write through links`, {
    hint: `Name the target itself${realPathOf(path)}, or remove the link.`,
  });
}

function realPathOf(link: string): string {
  try {
    return `: ${realpathSync(link)}`;
  } catch {
    return '';
  }
}

function makeFoldersWithoutLinks(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(folder);
  if (parent !== folder && dirname(parent) !== parent) makeFoldersWithoutLinks(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    // Another process may have created a link here meanwhile.
    requireNoLink(folder);
  }
}

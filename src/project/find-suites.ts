import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { RuntimeError, toRuntimeError } from '../errors.ts';
import { whyUnreadable } from '../files/file-error.ts';
import { requireSuite } from '../suite/file/load.ts';

/** A suite file, as far as it can be read without its RuntimeConfig. */
export interface FoundSuite {
  readonly file: string;
  /** Its own, or that of the file where it cannot be read. */
  readonly suite: string;
  /** The RuntimeConfig that it names. */
  readonly runtime?: string | undefined;
  /** Why it cannot be run. */
  readonly error?: RuntimeError | undefined;
}

/** Whether these stand for several suites, so that what they come to is one report of several. */
export function areSeveral(given: readonly string[]): boolean {
  const [first = ''] = given;
  return given.length > 1 || isFolder(first);
}

/**
 * The suites that files and folders stand for, in that order; those of a folder and the folders in it by their paths, told by
 * their `kind`. A file that is given twice counts once. Throws FILE_UNREADABLE for a folder without suites, USAGE for two suites
 * of one name.
 */
export function findSuites(given: readonly string[]): readonly FoundSuite[] {
  const files = given.flatMap((path) => (isFolder(path) ? suitesIn(path) : [path]));
  const byIdentity = new Map(files.toReversed().map((file) => [identityOf(file), file]));
  const once = files.filter((file) => byIdentity.get(identityOf(file)) === file);
  const found = [...new Set(once)].map(readSuite);
  refuseSameNames(found.filter(({ error }) => error === undefined));
  // What cannot be read has no name of its own.
  const names = new Set(found.flatMap(({ suite, error }) => (error === undefined ? [suite] : [])));
  return found.map((each) =>
    each.error === undefined ? each : { ...each, suite: names.has(each.suite) ? each.file : each.suite },
  );
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Equal for every name of a file. */
function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? file : `${found.dev}:${found.ino}`;
}

function suitesIn(folder: string): readonly string[] {
  const files = filesIn(folder, 0).filter((file) => saysSuite(file));
  if (files.length > 0) return files;
  throw new RuntimeError('FILE_UNREADABLE', `no suite is in the folder ${folder}`, {
    hint: 'A suite is a YAML or JSON file with `kind: EvalSuite`, in the folder or in one below it.',
  });
}

const deepest = 20;

/** Hidden folders and node_modules are left out. Throws FILE_UNREADABLE. */
function filesIn(folder: string, depth: number): readonly string[] {
  if (depth > deepest) return [];
  const entries = withFileError(folder, () => readdirSync(folder, { withFileTypes: true }));
  return entries
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesIn(path, depth + 1);
      return /\.(ya?ml|json)$/i.test(entry.name) && isFile(path) ? [path] : [];
    });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** By its text, so that a suite with an error in its YAML counts as one, and is told. */
function saysSuite(file: string): boolean {
  if (/\.suite\.(ya?ml|json)$/i.test(file)) return true;
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largestFile) return false;
  const text = withFileError(file, () => readFileSync(file, 'utf8'));
  return /\.json$/i.test(file)
    ? /"kind"\s*:\s*"EvalSuite"/.test(text)
    : /^\uFEFF?["']?kind["']?:[ \t]*["']?EvalSuite\b/m.test(text);
}

/** A greater file is a dataset. */
const largestFile = 8 * 2 ** 20;

function withFileError<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new RuntimeError('FILE_UNREADABLE', `${path} ${whyUnreadable(cause)}`, { cause });
  }
}

function readSuite(file: string): FoundSuite {
  try {
    const { name, runtime } = requireSuite(file, undefined);
    return { file, suite: name, runtime };
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    return { file, suite: basename(file).replace(/(\.suite)?\.(ya?ml|json)$/i, ''), error };
  }
}

function refuseSameNames(found: readonly FoundSuite[]): void {
  const groups = [...Map.groupBy(found, ({ suite }) => suite).entries()];
  const twice = groups.find(([, group]) => group.length > 1);
  if (twice === undefined) return;
  const [name, group] = twice;
  const files = group.map(({ file }) => file).join(' and ');
  throw new RuntimeError('USAGE', `several suites are named "${name}": ${files}`, {
    hint: 'One report tells suites apart by their names: give each its own metadata.name.',
  });
}

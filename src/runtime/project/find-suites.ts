import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { requireSuite } from '../../suites/load.ts';
import { documentsIn, isFolder, saysOf } from './walk.ts';

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

/** Equal for every name of a file. */
function identityOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? file : `${found.dev}:${found.ino}`;
}

function suitesIn(folder: string): readonly string[] {
  const files = documentsIn(folder).filter((file) => saysSuite(file));
  if (files.length > 0) return files;
  throw new RuntimeError('FILE_UNREADABLE', `no suite is in the folder ${folder}`, {
    hint: 'A suite is a YAML or JSON file with `kind: EvalSuite`, in the folder or in one below it.',
  });
}

/** By its text, so that a suite with an error in its YAML counts as one, and is told. */
function saysSuite(file: string): boolean {
  return /\.suite\.(ya?ml|json)$/i.test(file) || saysOf(file, 'kind') === 'EvalSuite';
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

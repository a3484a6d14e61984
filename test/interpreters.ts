import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/**
 * Where `python3` is a script of a version manager that looks for the interpreter at each start, which takes longer than what most tests
 * ask of it, the interpreter itself comes first in PATH.
 */
export default function findInterpreters(): void {
  const found = pathOf('python3');
  if (found === undefined) return;
  const actual = execFileSync(found, ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  }).trim();
  const folder = dirname(actual);
  // What else stands there must not come first: npm has chosen the Node of the tests.
  if (realpathSync(actual) === realpathSync(found) || existsSync(join(folder, 'node'))) return;
  process.env['PATH'] = `${folder}${delimiter}${process.env['PATH']}`;
}

function pathOf(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/**
 * Puts the real `python3` first in PATH if a version manager's script shadows it. The script searches for the
 * interpreter at each start, which takes longer than most tests.
 */
export default function findInterpreters(): void {
  const found = pathOf('python3');
  if (found === undefined) return;
  const actual = execFileSync(found, ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  }).trim();
  const folder = dirname(actual);
  // A folder that also holds another Node must not come first: npm chose the Node of the tests.
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

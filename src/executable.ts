import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';

/** The file that a command starts, or why none can be started. */
export type Executable =
  | { readonly found: true; readonly path: string }
  | { readonly found: false; readonly reason: string; readonly hint: string };

/**
 * Finds what `command` starts. With a slash in it the command is a path, relative to `folder`; a bare name
 * is looked up on `searchPath` only. No shell, so `"python3 x.py"` is the name of one program.
 */
export function findExecutable(command: string, folder: string, searchPath: string): Executable {
  if (command === '') return missing('the command is empty', 'Set `command` to a program.');
  if (!command.includes('/')) return findOnPath(command, searchPath);
  const path = isAbsolute(command) ? command : resolve(folder, command);
  return inspect(path) ?? { found: true, path };
}

function findOnPath(command: string, searchPath: string): Executable {
  let refusal: Executable | undefined;
  for (const directory of searchPath.split(delimiter)) {
    if (directory === '') continue;
    // A relative entry starts where Signalbox runs, not in the folder in which the process will.
    const path = resolve(directory, command);
    const problem = inspect(path);
    if (problem === undefined) return { found: true, path };
    if (isFile(path)) refusal ??= problem;
  }
  if (refusal) return refusal;
  return missing(
    `"${command}" is not on PATH`,
    splitHint(command) ?? 'Install it, or give a path with a / in it.',
  );
}

/** Why the file at `path` cannot be started, if so. */
function inspect(path: string): Executable | undefined {
  if (!isFile(path)) {
    return isDirectory(path)
      ? missing(`${path} is a folder`, 'Name the program inside it.')
      : missing(
          `${path} does not exist`,
          splitHint(path) ?? 'Check the path; it starts at the config file’s folder.',
        );
  }
  if (!isAccessible(path)) return missing(`${path} is not executable`, `Run \`chmod +x ${path}\`.`);
  if (isReadable(path) && !hasLoader(path)) {
    return missing(
      `${path} has no #! line`,
      'Start the script with a line such as `#!/usr/bin/env python3`.',
    );
  }
  return undefined;
}

function missing(reason: string, hint: string): Executable {
  return { found: false, reason, hint };
}

function splitHint(command: string): string | undefined {
  const [program, ...rest] = command.trim().split(/\s+/);
  if (program === undefined || rest.length === 0) return undefined;
  return `\`command\` is one program name; put the other words into \`args: [${rest.join(', ')}]\`.`;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isAccessible(path: string): boolean {
  return permits(path, constants.X_OK);
}

function isReadable(path: string): boolean {
  return permits(path, constants.R_OK);
}

function permits(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Whether the kernel knows how to run the file: a `#!` line, or a binary (which has a NUL early on). */
function hasLoader(path: string): boolean {
  const head = Buffer.alloc(64);
  const file = openSync(path, 'r');
  try {
    const length = readSync(file, head, 0, head.length, 0);
    const start = head.subarray(0, length);
    return start.toString('latin1', 0, 2) === '#!' || start.includes(0);
  } finally {
    closeSync(file);
  }
}

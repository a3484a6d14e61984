import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { findHeadFault, isFile, readHead } from './interpreter.ts';

/** The file that a command starts, or why none can be started. */
export type Executable =
  | { readonly found: true; readonly path: string }
  | {
      readonly found: false;
      readonly reason: string;
      readonly hint: string;
      /** The script exists and its first line is wrong, so that no later call can succeed either. */
      readonly isMisspelt: boolean;
    };

/**
 * Finds what `command` starts. With a slash in it the command is a path, relative to `folder`; a bare name
 * is looked up on `searchPath` only. No shell, so `"python3 x.py"` is the name of one program.
 */
export function findExecutable(command: string, folder: string, searchPath: string): Executable {
  if (command === '') return missing('the command is empty', 'Set `command` to a program.');
  if (!command.includes('/')) return findOnPath(command, folder, searchPath);
  const path = isAbsolute(command) ? command : resolve(folder, command);
  return inspect(path) ?? { found: true, path };
}

function findOnPath(command: string, folder: string, searchPath: string): Executable {
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
  const hint =
    splitHint(command) ?? sameFolderHint(command, folder) ?? 'Install it, or give a path with a / in it.';
  return missing(`"${command}" is not on PATH`, hint);
}

/** The hint that a bare name is looked up on PATH, if the folder has a file of that name. */
function sameFolderHint(command: string, folder: string): string | undefined {
  if (!isFile(resolve(folder, command))) return undefined;
  return `A file ${command} is in ${folder}: write \`./${command}\`.`;
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
  const fault = isReadable(path) ? findHeadFault(path, readHead(path)) : undefined;
  return fault && { found: false, ...fault };
}

function missing(reason: string, hint: string): Executable {
  return { found: false, reason, hint, isMisspelt: false };
}

function splitHint(command: string): string | undefined {
  const [program, ...rest] = command.trim().split(/\s+/);
  if (program === undefined || rest.length === 0) return undefined;
  return `\`command\` is one program name; put the other words into \`args: [${rest.join(', ')}]\`.`;
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

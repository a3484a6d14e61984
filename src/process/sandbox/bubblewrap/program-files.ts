import { resolve } from 'node:path';
import { bundledFolders, findExecutable } from '../../../base/files/executable.ts';
import { interpreterWords, isFile } from '../../../base/files/interpreter.ts';
import { findScript } from '../../../base/files/script.ts';
import type { LaunchRequest } from '../../launch/launch.ts';

/**
 * The files without which the command cannot even begin: the program, the script that it runs, and their interpreters; the files
 * alone, not their folders, unless the program is one of this package. Of a file that `isTrusted` refuses, the `#!` line decides nothing.
 */
export function programFiles(
  { command, args, cwd, env }: LaunchRequest,
  isTrusted: (file: string) => boolean,
): string[] {
  const index = findScript(command, args);
  const script = index === undefined ? undefined : resolve(cwd, args[index] ?? '');
  const begun = [command, ...(script !== undefined && isFile(script) ? [script] : [])];
  const interpreters = begun
    .filter(isTrusted)
    .flatMap((file) => interpreterOf(file, env['PATH'] ?? '') ?? []);
  return [...new Set([...begun, ...begun.flatMap(bundledFolders), ...interpreters])];
}

function interpreterOf(file: string, searchPath: string): string | undefined {
  const word = interpreterWords(file)?.find((part) => !part.startsWith('-') && !/^\w+=/.test(part));
  if (word === undefined) return undefined;
  const found = findExecutable(word, '/', searchPath);
  return found.found ? found.path : undefined;
}

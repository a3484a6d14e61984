import { resolve } from 'node:path';
import { findExecutable } from '../../../files/executable.ts';
import { interpreterWords, isFile } from '../../../files/interpreter.ts';
import { followLinks } from '../../../files/real-path.ts';
import { findScript } from '../../../files/script.ts';
import type { LaunchRequest } from '../../launch/launch.ts';

/**
 * The files without which the command cannot even begin: the program, the script that it is told to run, their interpreters,
 * and where links lead; the files alone, not what stands beside them.
 */
export function programFiles({ command, args, cwd, env }: LaunchRequest): string[] {
  const index = findScript(command, args);
  const script = index === undefined ? undefined : resolve(cwd, args[index] ?? '');
  const begun = [command, ...(script !== undefined && isFile(script) ? [script] : [])];
  const interpreters = begun.flatMap((file) => interpreterOf(file, env['PATH'] ?? '') ?? []);
  return [...new Set([...begun, ...interpreters].flatMap((file) => [file, followLinks(file)]))];
}

function interpreterOf(file: string, searchPath: string): string | undefined {
  const word = interpreterWords(file)?.find((part) => !part.startsWith('-') && !/^\w+=/.test(part));
  if (word === undefined) return undefined;
  const found = findExecutable(word, '/', searchPath);
  return found.found ? found.path : undefined;
}

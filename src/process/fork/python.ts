import { basename, resolve } from 'node:path';
import { findExecutable } from '../../base/files/executable.ts';
import { interpreterWords, isFile } from '../../base/files/interpreter.ts';
import type { Binding } from '../binding.ts';

/** How Python is started for a script: `command flags… script arguments…`. */
export interface PythonCommand {
  readonly command: string;
  readonly flags: readonly string[];
  readonly script: string;
  readonly args: readonly string[];
}

/** The Python that runs the entry's script, or why there is none. */
export function findPython({
  command,
  args,
  cwd,
  env,
}: Pick<Binding, 'command' | 'args' | 'cwd' | 'env'>): PythonCommand | { readonly reason: string } {
  if (isPython(command)) return readArguments(command, args, cwd);
  const program = findExecutable(command, cwd, env['PATH'] ?? '');
  if (!program.found) return { reason: program.reason };
  const words = interpreterWords(program.path);
  if (words === undefined) return { reason: `${command} is no script: only Python scripts can be forked` };
  const [interpreter = '', ...flags] = words;
  if (!isPython(interpreter)) {
    return { reason: `${command} is a script for ${interpreter}: only Python scripts can be forked` };
  }
  return { command: interpreter, flags, script: program.path, args };
}

function isPython(command: string): boolean {
  return /^(?:python|pypy)\d*(?:\.\d+)?$/.test(basename(command));
}

/** `python [options] script …`, as an entry's `command` and `args`. */
function readArguments(
  command: string,
  args: readonly string[],
  cwd: string,
): PythonCommand | { readonly reason: string } {
  let index = 0;
  while (index < args.length && FLAG.test(args[index] ?? ''))
    index += TAKES_VALUE.test(args[index] ?? '') ? 2 : 1;
  const script = args[index];
  if (script === undefined || script.startsWith('-')) {
    return { reason: 'its Python is given no script: `-c`, `-m` and stdin cannot be forked' };
  }
  if (!isFile(resolve(cwd, script))) return { reason: `${script} is no file` };
  return { command, flags: args.slice(0, index), script, args: args.slice(index + 1) };
}

/** Source: https://docs.python.org/3/using/cmdline.html; `-c`, `-m`, `-i`, `-h` and `-V` are no runs of a script. */
const FLAG = /^-(?:[bBdEIOPqRsSuvx]+|[WX].*)$/;
const TAKES_VALUE = /^-[WX]$/;

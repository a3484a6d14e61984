import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { findExecutable } from '../../files/executable.ts';
import { findHeadFault, findReturnsFault, tryReadHead } from '../../files/interpreter.ts';
import { findScript, isShell } from './script.ts';
import { splitLine } from './shell-line.ts';

/** A command and how it is started, with its placeholders filled. */
export interface Started {
  readonly command: string;
  /** Absent: `command` is a shell line. */
  readonly args?: readonly string[];
  /** Where it starts. */
  readonly cwd: string;
  /** Where a relative `command` of the exec form starts. */
  readonly folder: string;
  /** A PATH; empty: nobody knows it, and names on it are not looked up. */
  readonly searchPath: string;
}

/**
 * The script or program that is not there, or has Windows line ends where the system or a shell reads it: an interpreter
 * would exit 2 for it, and a shell 127.
 */
export function findMissingScript({ command, args, cwd, folder, searchPath }: Started): string | undefined {
  if (args === undefined) return missingOfLine(command, cwd, searchPath);
  if (command.includes('$')) return undefined;
  const path = command.includes('/') ? resolve(folder, command) : undefined;
  const fault = path === undefined ? undefined : whyNotRun(path);
  if (fault !== undefined) return fault;
  if (path === undefined && isNotOnPath(command, searchPath)) return `"${command}" is not on PATH`;
  return missingArgument(
    command,
    args.map((text) => ({ text, isExpanded: text.includes('$') })),
    cwd,
  );
}

interface Word {
  readonly text: string;
  readonly isExpanded: boolean;
}

function missingOfLine(line: string, cwd: string, searchPath: string): string | undefined {
  const [program, ...args] = skipPreamble(splitLine(line) ?? []);
  if (program === undefined || program.isExpanded) return undefined;
  const { text } = program;
  if (text.includes('/')) {
    const fault = whyNotRun(resolve(cwd, text));
    if (fault !== undefined) return fault;
  } else if (/\w\.\w+$/.test(text) && isNotOnPath(text, searchPath)) {
    return `"${text}" is not on PATH`;
  }
  return missingArgument(text, args, cwd);
}

/** Leading assignments and `env`, which say nothing of the program. */
function skipPreamble(words: readonly Word[]): readonly Word[] {
  const first = words.findIndex(({ text }) => !/^[A-Za-z_]\w*=/.test(text));
  if (first === -1) return [];
  const word = words[first]?.text ?? '';
  if (!/^(?:\/usr\/bin\/)?env$/.test(word)) return words.slice(first);
  const rest = words.slice(first + 1);
  return rest[0]?.text.startsWith('-') ? [] : skipPreamble(rest);
}

function missingArgument(program: string, args: readonly Word[], cwd: string): string | undefined {
  const index = findScript(
    program,
    args.map(({ text }) => text),
  );
  const script = index === undefined ? undefined : args[index];
  if (script === undefined || script.isExpanded) return undefined;
  const path = resolve(cwd, script.text);
  if (!existsSync(path)) return `${path} does not exist`;
  return isShell(program) ? findReturnsFault(path, program)?.reason : undefined;
}

/** Why nothing good can come of starting the file at `path`. */
function whyNotRun(path: string): string | undefined {
  if (!existsSync(path)) return `${path} does not exist`;
  const head = tryReadHead(path);
  const fault = head && findHeadFault(path, head);
  return fault?.isMisspelt ? fault.reason : undefined;
}

function isNotOnPath(name: string, searchPath: string): boolean {
  if (searchPath === '') return false;
  const found = findExecutable(name, '/', searchPath);
  return !found.found && found.reason.endsWith('is not on PATH');
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { findExecutable } from './executable.ts';
import { findHeadFault, findLineEndFault, tryReadHead } from './interpreter.ts';
import { findScript, isShell } from './script.ts';
import { splitLine } from './shell-line.ts';

export interface ScriptCommand {
  readonly command: string;
  /** Absent: `command` is a shell line. */
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly folder: string;
  /** The PATH for bare names. If it is empty, they are not looked up. */
  readonly searchPath: string;
}

/**
 * Why the script or program cannot run: it is missing or has Windows line ends. Returns undefined if no fault was
 * found. Interpreters exit with 2 in these cases, shells with 127.
 */
export function findMissingScript({
  command,
  args,
  cwd,
  folder,
  searchPath,
}: ScriptCommand): string | undefined {
  if (args === undefined) return findMissingInLine(command, cwd, searchPath);
  if (command.includes('$')) return undefined;
  const path = command.includes('/') ? resolve(folder, command) : undefined;
  const fault = path === undefined ? undefined : whyNotRun(path);
  if (fault !== undefined) return fault;
  if (path === undefined && isNotOnPath(command, searchPath)) return `"${command}" is not on PATH`;
  return findMissingArgument(
    command,
    args.map((text) => ({ text, isExpanded: text.includes('$') })),
    cwd,
  );
}

interface Word {
  readonly text: string;
  readonly isExpanded: boolean;
}

function findMissingInLine(line: string, cwd: string, searchPath: string): string | undefined {
  const [program, ...args] = skipPreamble(splitLine(line) ?? []);
  if (program === undefined || program.isExpanded) return undefined;
  const { text } = program;
  if (text.includes('/')) {
    const fault = whyNotRun(resolve(cwd, text));
    if (fault !== undefined) return fault;
  } else if (/\w\.\w+$/.test(text) && isNotOnPath(text, searchPath)) {
    return `"${text}" is not on PATH`;
  }
  return findMissingArgument(text, args, cwd);
}

function skipPreamble(words: readonly Word[]): readonly Word[] {
  const first = words.findIndex(({ text }) => !/^[A-Za-z_]\w*=/.test(text));
  if (first === -1) return [];
  const word = words[first]?.text ?? '';
  if (!/^(?:\/usr\/bin\/)?env$/.test(word)) return words.slice(first);
  const rest = words.slice(first + 1);
  return rest[0]?.text.startsWith('-') ? [] : skipPreamble(rest);
}

function findMissingArgument(program: string, args: readonly Word[], cwd: string): string | undefined {
  const index = findScript(
    program,
    args.map(({ text }) => text),
  );
  const script = index === undefined ? undefined : args[index];
  if (script === undefined || script.isExpanded) return undefined;
  const path = resolve(cwd, script.text);
  if (!existsSync(path)) return `${path} does not exist`;
  return isShell(program) ? findLineEndFault(path, program)?.reason : undefined;
}

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

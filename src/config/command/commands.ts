import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { findExecutable } from '../../base/files/executable.ts';
import { findInterpreterFault, findLineEndFault } from '../../base/files/interpreter.ts';
import { nearFileHint } from '../../base/files/paths.ts';
import { findScript, isShell } from '../../base/files/script.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import { whyRefused } from '../build/refused.ts';
import { foreignAt } from '../exec.ts';
import { type ExecEntry, execEntries } from '../references.ts';
import { findSandbox } from '../sandbox/read.ts';
import { locateFinding } from '../schema.ts';
import { findScriptAt, scriptPrograms } from '../script.ts';

export interface CommandLookup {
  readonly folder: string;
  readonly searchPath: string;
}

/** Reports entries that cannot start now: a program, folder or script is missing or cannot run. */
export function checkCommands(
  document: YamlDocument,
  lookup: CommandLookup,
  isChecked: (entry: ExecEntry) => boolean = () => true,
): Problem[] {
  const once = { search: memoize(whyNotStarted), isFolder: memoize(isFolder) };
  return execEntries(document)
    .filter(isChecked)
    .filter(({ path }) => whyRefused(document, path) === undefined && isHere(document, path))
    .flatMap((entry) => {
      if (entry.path[1] === 'mcp_servers')
        return checkEntry(document, entry, ['working_dir'], { ...lookup, ...once });
      const dialect = entry.capability === 'hook' ? foreignAt(document, entry.path) : undefined;
      const rules = dialect && foreignDialects[dialect].entry;
      return rules?.checksCommand === true
        ? []
        : checkEntry(document, entry, rules?.folderKey, { ...lookup, ...once });
    })
    .map((each) => locateFinding(document, { ...each, severity: 'warning', about: 'program' }));
}

/** Many entries start the same program in the same folder. */
function memoize<Given extends readonly unknown[], Result>(read: (...given: Given) => Result): typeof read {
  const known = new Map<string, { readonly result: Result }>();
  return (...given) => {
    const key = JSON.stringify(given);
    const found = known.get(key) ?? { result: read(...given) };
    known.set(key, found);
    return found.result;
  };
}

type Once = { readonly search: typeof whyNotStarted; readonly isFolder: (path: string) => boolean };

function isHere(document: YamlDocument, path: Path): boolean {
  const name = nonEmptyTextAt(document, [...path, 'sandbox']);
  if (name === undefined) return true;
  const mode = findSandbox(document, name)?.mode;
  return mode === 'direct' || mode === 'bubblewrap';
}

function checkEntry(
  document: YamlDocument,
  { path }: ExecEntry,
  folderKey: Path = ['cwd'],
  { folder, searchPath, search, isFolder }: CommandLookup & Once,
): Finding[] {
  const dir = [...path, ...folderKey];
  const cwdPath = valueAt(document, dir) === undefined ? [...path, 'cwd'] : dir;
  const cwd = resolve(folder, nonEmptyTextAt(document, cwdPath) ?? '.');
  const script = findScriptAt(document, path);
  const commandPath = script?.path ?? [...path, 'command'];
  const command = script ? scriptPrograms[script.language].command : (textAt(document, commandPath) ?? '');
  const ownPath = pathVariableAt(document, path) ?? searchPath;
  const unstartable = search(command, { folder, cwd, searchPath: ownPath });
  if (unstartable) return [{ path: commandPath, ...unstartable }];
  if (!isFolder(cwd)) {
    return [
      {
        path: cwdPath,
        message: `${cwd} is not a folder`,
        hint: 'Create it, or correct `cwd`. A relative path starts at the config file’s folder.',
      },
    ];
  }
  return checkScript(document, path, { command, cwd });
}

function pathVariableAt(document: YamlDocument, path: ExecEntry['path']): string | undefined {
  const variables = itemsAt(document, [...path, 'env']).map((item) => textAt(document, item) ?? '');
  return variables.find((variable) => variable.startsWith('PATH='))?.slice('PATH='.length);
}

interface Program {
  readonly command: string;
  readonly cwd: string;
}

function checkScript(document: YamlDocument, path: ExecEntry['path'], { command, cwd }: Program): Finding[] {
  const args = itemsAt(document, [...path, 'args']);
  const index = findScript(
    command,
    args.map((item) => textAt(document, item) ?? ''),
  );
  const scriptPath = index === undefined ? undefined : args[index];
  if (scriptPath === undefined) return [];
  const script = resolve(cwd, textAt(document, scriptPath) ?? '');
  if (!existsSync(script)) {
    const message = `${script} does not exist`;
    const hint = nearFileHint(textAt(document, scriptPath) ?? '', cwd) ?? `${command} starts in ${cwd}.`;
    return [{ path: scriptPath, message, hint }];
  }
  const fault = isShell(command) ? findLineEndFault(script, command) : undefined;
  if (fault === undefined) return [];
  return [{ path: scriptPath, message: fault.reason, hint: fault.hint }];
}

interface SearchFolders {
  readonly folder: string;
  readonly cwd: string;
  readonly searchPath: string;
}

function whyNotStarted(
  command: string,
  { folder, cwd, searchPath }: SearchFolders,
): Pick<Finding, 'message' | 'hint'> | undefined {
  try {
    const executable = findExecutable(command, folder, searchPath);
    const fault = executable.found ? findInterpreterFault(executable.path, { cwd, searchPath }) : executable;
    if (fault === undefined) return undefined;
    return { message: fault.reason, hint: fault.hint };
  } catch (thrown) {
    // The system refuses the name, such as one that is too long, or denies access to the script.
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return isUnreadable(thrown)
      ? undefined
      : { message: `cannot be looked up: ${message}`, hint: 'Check the path.' };
  }
}

function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'EACCES';
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

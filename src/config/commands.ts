import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { findExecutable } from '../executable.ts';
import type { Problem } from './config.ts';
import type { YamlDocument } from './document.ts';
import type { ForeignName } from './entry.ts';
import { foreignAt } from './foreign/entries.ts';
import { itemsAt, textAt, valueAt, wordAt } from './read.ts';
import { type ExecEntry, execEntries } from './references.ts';
import { whyRefused } from './refused.ts';
import { type Report, report } from './report.ts';
import { findScript } from './script.ts';

/** Where commands are looked for. */
export interface Surroundings {
  /** The config file’s folder, absolute. */
  readonly folder: string;
  /** The PATH that bare names are looked up on. */
  readonly searchPath: string;
}

/** Warns of entries that could not start now: no program, no folder, no script. A later call may find them. */
export function checkCommands(document: YamlDocument, surroundings: Surroundings): Problem[] {
  return execEntries(document)
    .filter(({ path }) => whyRefused(document, path) === undefined)
    .filter(({ capability, path }) => capability !== 'hook' || !readsLines(foreignAt(document, path)))
    .flatMap((entry) => checkEntry(document, entry, surroundings))
    .map((each) => report(document, each));
}

/** Whether commands of that dialect may be lines for a shell, which are looked into elsewhere. */
function readsLines(dialect: ForeignName | undefined): boolean {
  return dialect === 'claude' || dialect === 'agentao';
}

function checkEntry(
  document: YamlDocument,
  { path }: ExecEntry,
  { folder, searchPath }: Surroundings,
): Report[] {
  const dir = [...path, 'picoclaw', 'dir'];
  const cwdPath = valueAt(document, dir) === undefined ? [...path, 'cwd'] : dir;
  const cwd = resolve(folder, wordAt(document, cwdPath) ?? '.');
  const commandPath = [...path, 'command'];
  const command = textAt(document, commandPath) ?? '';
  const missing = whyNotStarted(command, folder, searchPath);
  if (missing) return [{ severity: 'warning', path: commandPath, ...missing }];
  if (kindOf(cwd) !== 'folder') {
    return [
      {
        severity: 'warning',
        path: cwdPath,
        message: `${cwd} is no folder`,
        hint: 'It starts at the config file’s folder.',
      },
    ];
  }
  const args = itemsAt(document, [...path, 'args']);
  const script = findScript(
    command,
    args.map((item) => textAt(document, item) ?? ''),
  );
  const scriptPath = script === undefined ? undefined : args[script];
  if (scriptPath === undefined || kindOf(resolve(cwd, textAt(document, scriptPath) ?? '')) !== 'nothing')
    return [];
  const message = `${resolve(cwd, textAt(document, scriptPath) ?? '')} does not exist`;
  return [{ severity: 'warning', path: scriptPath, message, hint: `${command} starts in ${cwd}.` }];
}

function whyNotStarted(
  command: string,
  folder: string,
  searchPath: string,
): { message: string; hint: string } | undefined {
  try {
    const executable = findExecutable(command, folder, searchPath);
    return executable.found ? undefined : { message: executable.reason, hint: executable.hint };
  } catch (thrown) {
    // A name that the system itself refuses, such as one that is too long.
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { message: `cannot be looked up: ${message}`, hint: 'Check the path.' };
  }
}

function kindOf(path: string): 'folder' | 'file' | 'nothing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'nothing';
  }
}

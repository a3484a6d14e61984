import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isObject } from '../../json/json.ts';
import type { Problem } from '../../yaml/problem.ts';
import { sortProblems } from '../../yaml/problem.ts';
import { valueAt } from '../../yaml/read.ts';
import type { ForeignName } from '../entry.ts';
import { type DialectChecks, noDialectChecks } from '../foreign-checks.ts';
import { duplicateKeyOf } from './claude-twins.ts';
import type { HookDraft } from './draft.ts';
import { nameHook } from './names.ts';
import { closedEnvironment } from './picoclaw.ts';
import { readHooksFile } from './read-file.ts';
import { readForeignFile } from './sources.ts';
import { shortPath, toEntry } from './write-entry.ts';

/** An entry as a config file would have it: of `spec.hooks` under its name, or of `spec.imports`. */
export interface ImportedEntry {
  readonly section: 'hooks' | 'imports';
  readonly name: string;
  /** Plain values. */
  readonly value: Readonly<Record<string, unknown>>;
}

export interface ImportOptions {
  /** The folder of the config file that the entries are for: paths are written from there. */
  readonly folder: string;
  readonly dialect?: ForeignName;
  /** A PATH. */
  readonly searchPath: string;
  readonly checks?: DialectChecks;
}

/**
 * The config entries for a foreign file, a plugin’s folder or a folder of chibi plugins, and its problems. A
 * hook with an error is left out.
 */
export function importHooks(
  file: string,
  { folder, dialect, searchPath, checks = noDialectChecks }: ImportOptions,
): { readonly entries: readonly ImportedEntry[]; readonly problems: readonly Problem[] } {
  const path = resolve(file);
  if (dialect === 'chibi' || (dialect === undefined && isChibiPluginsFolder(path)))
    return importPlugins(path, file, folder);
  const contents = readHooksFile({
    file: path,
    displayName: file,
    dialect,
    folder: resolve(folder),
    mustNotDrop: false,
    searchPath,
    checks,
  });
  const faults = contents.faults.map((message) => errorIn(file, message));
  const notes = contents.drafts.some((draft) => draft.dialect === 'picoclaw')
    ? [
        {
          ...errorIn(file, closedEnvironment.message),
          severity: 'note' as const,
          hint: closedEnvironment.hint,
        },
      ]
    : [];
  return {
    entries: toEntries(contents.drafts, resolve(folder)),
    problems: sortProblems([...faults, ...contents.problems, ...notePermissions(path, file), ...notes]),
  };
}

function errorIn(file: string, message: string): Problem {
  return { file, line: 1, column: 1, severity: 'error', message };
}

/** A folder that is no plugin of Claude Code’s or Agentao’s holds chibi plugins. */
function isChibiPluginsFolder(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  const marks = ['plugin.json', join('.claude-plugin', 'plugin.json'), join('hooks', 'hooks.json')];
  return !marks.some((mark) => existsSync(join(path, mark)));
}

function importPlugins(path: string, file: string, folder: string): ReturnType<typeof importHooks> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return { entries: [], problems: [errorIn(file, 'is no folder')] };
  }
  const value = { dialect: 'chibi', plugins_dir: shortPath(path, resolve(folder)) };
  return { entries: [{ section: 'imports', name: value.plugins_dir, value }], problems: [] };
}

function toEntries(drafts: readonly HookDraft[], folder: string): ImportedEntry[] {
  const taken = new Set<string>();
  const duplicates = new Set<string>();
  return drafts.flatMap((draft): ImportedEntry[] => {
    const key = draft.dialect === 'claude' ? duplicateKeyOf(draft) : undefined;
    if (key !== undefined && duplicates.has(key)) return [];
    if (key !== undefined) duplicates.add(key);
    return [{ section: 'hooks', name: nameHook(draft, taken), value: toEntry(draft, folder) }];
  });
}

/** A note when the file has permission rules, which are not imported. */
function notePermissions(path: string, file: string): Problem[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
  const document = readForeignFile(path, file);
  const key = ['permissions'];
  if ('fault' in document || !isObject(valueAt(document, key))) return [];
  const message = 'permissions: rules are not hooks, and are left where they are';
  return [{ ...document.keyPositionOf(key), severity: 'note', message }];
}

import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isObject } from '../../json/json.ts';
import type { Problem } from '../../yaml/problem.ts';
import { sortProblems } from '../../yaml/problem.ts';
import { valueAt } from '../../yaml/read.ts';
import type { ForeignName } from '../entry.ts';
import { type ForeignChecks, noChecks } from '../foreign-checks.ts';
import { twinKeyOf } from './claude-twins.ts';
import type { Draft } from './draft.ts';
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
  readonly checks?: ForeignChecks;
}

/**
 * The entries that a foreign file, a plugin’s folder or a folder of chibi plugins comes to, and all that is wrong with
 * it. What has an error is left out, and the rest is there.
 */
export function importHooks(
  file: string,
  { folder, dialect, searchPath, checks = noChecks }: ImportOptions,
): { readonly entries: readonly ImportedEntry[]; readonly problems: readonly Problem[] } {
  const path = resolve(file);
  if (dialect === 'chibi' || (dialect === undefined && isPlugins(path)))
    return importPlugins(path, file, folder);
  const contents = readHooksFile({
    file: path,
    shown: file,
    dialect,
    folder: resolve(folder),
    mustHold: false,
    searchPath,
    checks,
  });
  const faults = contents.faults.map((message) => fault(file, message));
  const notes = contents.drafts.some((draft) => draft.dialect === 'picoclaw')
    ? [{ ...fault(file, closedEnvironment.message), severity: 'note' as const, hint: closedEnvironment.hint }]
    : [];
  return {
    entries: toEntries(contents.drafts, resolve(folder)),
    problems: sortProblems([...faults, ...contents.problems, ...tellPermissions(path, file), ...notes]),
  };
}

function fault(file: string, message: string): Problem {
  return { file, line: 1, column: 1, severity: 'error', message };
}

/** A folder that is no plugin of Claude Code’s or Agentao’s holds chibi plugins. */
function isPlugins(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  const marks = ['plugin.json', join('.claude-plugin', 'plugin.json'), join('hooks', 'hooks.json')];
  return !marks.some((mark) => existsSync(join(path, mark)));
}

function importPlugins(path: string, file: string, folder: string): ReturnType<typeof importHooks> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return { entries: [], problems: [fault(file, 'is no folder')] };
  }
  const value = { dialect: 'chibi', plugins_dir: shortPath(path, resolve(folder)) };
  return { entries: [{ section: 'imports', name: value.plugins_dir, value }], problems: [] };
}

function toEntries(drafts: readonly Draft[], folder: string): ImportedEntry[] {
  const taken = new Set<string>();
  const twins = new Set<string>();
  return drafts.flatMap((draft): ImportedEntry[] => {
    const twin = draft.dialect === 'claude' ? twinKeyOf(draft) : undefined;
    if (twin !== undefined && twins.has(twin)) return [];
    if (twin !== undefined) twins.add(twin);
    return [{ section: 'hooks', name: nameHook(draft, taken), value: toEntry(draft, folder) }];
  });
}

/** Rules of Claude Code that are no hooks are left where they are. */
function tellPermissions(path: string, file: string): Problem[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
  const document = readForeignFile(path, file);
  const key = ['permissions'];
  if ('fault' in document || !isObject(valueAt(document, key))) return [];
  const message = 'permissions: rules are not hooks, and are left where they are';
  return [{ ...document.keyPositionOf(key), severity: 'note', message }];
}

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { RuntimeError } from '../../base/errors.ts';
import { findExecutable } from '../../base/files/executable.ts';
import { nearFileHint } from '../../base/files/paths.ts';
import { findScript } from '../../base/files/script.ts';
import { writeWithoutLinks } from '../../base/files/write-inside.ts';
import { isObject } from '../../base/json/json.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import type { ForeignName } from '../../config/config.ts';
import { type ImportedEntry, importHooks, mergeEntries } from '../../config/import/entries.ts';
import { shortPath } from '../../dialects/foreign-files.ts';
import { hostEnv } from '../../process/env.ts';

export interface HooksImport {
  readonly entries: readonly ImportedEntry[];
  readonly yaml: string;
  readonly problems: readonly Problem[];
}

export interface HooksImportOptions {
  /** The target config, which may not exist yet. Paths of the entries are relative to its folder. */
  readonly config: string;
  readonly dialect?: ForeignName | undefined;
}

/** Reads hooks of another system. Throws FILE_UNREADABLE if the file does not exist. */
export function readHooks(file: string, { config, dialect }: HooksImportOptions): HooksImport {
  if (!existsSync(file))
    throw new RuntimeError('FILE_UNREADABLE', `${file} does not exist`, { hint: nearFileHint(file) });
  const { entries, problems } = importHooks(file, {
    folder: dirname(resolve(config)),
    searchPath: hostEnv()['PATH'] ?? '',
    ...(dialect && { dialect }),
  });
  return { entries, yaml: entries.length === 0 ? '' : mergeEntries('', entries), problems };
}

export interface HooksWritten {
  readonly added: readonly string[];
  readonly isNew: boolean;
}

/**
 * Merges the entries into the config, keeping its comments, or creates a config. Skips entries that the config has or
 * imports from that file. Throws CONFIG_INVALID if the config cannot take them, FILE_UNREADABLE, and USAGE if it cannot
 * be written.
 */
export function writeHooks(
  file: string,
  { entries }: Pick<HooksImport, 'entries'>,
  config: string,
): HooksWritten {
  const isNew = !existsSync(config);
  const before = readOrEmpty(config);
  if (importsFile(config, before, file)) return { added: [], isNew: false };
  const after = mergeIn(config, before, entries);
  const added = namesAdded(before, after);
  if (added.length > 0) writeWithoutLinks(config, after, 'Name a writable config with --config.');
  return { added, isNew: isNew && added.length > 0 };
}

export interface ToolScript {
  readonly command: string;
  readonly args: readonly string[];
  /** Default: the file's name. */
  readonly name?: string | undefined;
  /** Further keys of the tool and of its `exec`. */
  readonly tool: Readonly<Record<string, unknown>>;
  readonly exec: Readonly<Record<string, unknown>>;
}

export interface ToolAdded {
  readonly name: string;
  /** The entry alone. */
  readonly yaml: string;
  readonly isNew: boolean;
}

/**
 * Adds a tool to the config, or only returns its entry with `isDry`. Throws as `writeHooks`, and USAGE if the program
 * cannot start or the name is taken.
 */
export function addTool(
  { command, args, tool, exec, ...given }: ToolScript,
  { config, isDry }: { readonly config: string; readonly isDry: boolean },
): ToolAdded {
  const folder = dirname(resolve(config));
  const found = findExecutable(command, resolve('.'), hostEnv()['PATH'] ?? '');
  if (!found.found) throw new RuntimeError('USAGE', found.reason, { hint: found.hint });
  const script = findScript(command, args);
  const fromFolder = (path: string) => shortPath(resolve(path), folder);
  const process = {
    command: command.includes('/') ? fromFolder(command) : command,
    ...(args.length > 0 && { args: args.map((arg, index) => (index === script ? fromFolder(arg) : arg)) }),
  };
  const file = script === undefined ? command : (args[script] ?? command);
  const { name = basename(file, extname(file)).replaceAll(/[^\w-]/g, '_') } = given;
  const isNew = !existsSync(config);
  const before = readOrEmpty(config);
  const entry = { section: 'tools', name, value: { ...tool, exec: { ...process, ...exec } } } as const;
  const { spec } = plain(before);
  const tools = isObject(spec) ? spec['tools'] : undefined;
  if (isObject(tools) && Object.hasOwn(tools, name))
    throw new RuntimeError('USAGE', `${config} already has a tool ${name}`, { hint: 'Give --name another.' });
  const after = mergeIn(config, before, [entry]);
  if (after === before)
    throw new RuntimeError('USAGE', `${config} already has this tool`, {
      hint: 'Run `signalbox tool list`.',
    });
  if (!isDry) writeWithoutLinks(config, after, 'Name a writable config with --config.');
  return { name, yaml: mergeEntries('', [entry]), isNew };
}

const emptyConfig = 'apiVersion: signalbox/v1\nkind: RuntimeConfig\n';

/** The text of a config, which may not exist yet. Throws FILE_UNREADABLE. */
export function readOrEmpty(config: string): string {
  if (!existsSync(config)) return emptyConfig;
  try {
    return readFileSync(config, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RuntimeError('FILE_UNREADABLE', `${config} cannot be read (${reason})`, { cause });
  }
}

/** If `spec.imports` names the file, entries would run its hooks a second time. */
function importsFile(config: string, text: string, file: string): boolean {
  const names = specOf(text).imports.map((each) => (isObject(each) ? each['file'] : undefined));
  return names.some((name) => typeof name === 'string' && resolve(dirname(config), name) === resolve(file));
}

export function mergeIn(config: string, text: string, entries: readonly ImportedEntry[]): string {
  try {
    const kind = plain(text)['kind'];
    if (kind !== undefined && kind !== 'RuntimeConfig')
      throw new RuntimeError('CONFIG_INVALID', `its kind is ${String(kind)}, not RuntimeConfig`);
    return mergeEntries(text, entries);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const hint =
      cause instanceof RuntimeError ? cause.hint : 'Run `signalbox validate` to see what is wrong.';
    const message = `${config} cannot take the ${entries[0]?.section ?? 'hooks'}: ${reason.trim()}`;
    throw new RuntimeError('CONFIG_INVALID', message, { hint, cause });
  }
}

export function plain(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = parse(text, { merge: true, logLevel: 'silent' });
  return isObject(value) ? value : {};
}

function namesAdded(before: string, after: string): string[] {
  const [old, now] = [specOf(before), specOf(after)];
  const hooks = Object.keys(now.hooks).filter((name) => !Object.hasOwn(old.hooks, name));
  const imports = now.imports.filter((each) => !old.imports.some((known) => isDeepStrictEqual(known, each)));
  return [...hooks, ...imports.map((each) => (isObject(each) ? String(each['plugins_dir']) : ''))];
}

function specOf(text: string) {
  const { spec } = plain(text);
  const { hooks, imports } = isObject(spec) ? spec : {};
  return { hooks: isObject(hooks) ? hooks : {}, imports: Array.isArray(imports) ? imports : [] };
}

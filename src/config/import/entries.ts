import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Document, isCollection, isMap, isSeq, parseDocument } from 'yaml';
import { RuntimeError } from '../../base/errors.ts';
import { existsWatched } from '../../base/files/read-bounded.ts';
import { isObject } from '../../base/json/json.ts';
import { type Problem, sortProblems } from '../../base/yaml/problem.ts';
import { type HookDraft, shortPath } from '../../dialects/foreign-files.ts';
import { foreignDialects, foreignNames } from '../../dialects/registry.ts';
import type { ForeignName } from '../exec.ts';
import { firstFreeName, nameHook, notesOf, readHooksFile } from './read-file.ts';
import { manifestNames } from './sources.ts';

export interface ImportedEntry {
  readonly section: 'tools' | 'evals' | 'hooks' | 'imports' | 'mcp_servers';
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface ImportOptions {
  /** The folder of the target config file, the base of written paths. */
  readonly folder: string;
  readonly dialect?: ForeignName;
  readonly searchPath: string;
}

/** The config entries for a foreign file, a plugin's folder or a folder of plugins. Omits hooks with errors. */
export function importHooks(
  file: string,
  { folder, dialect, searchPath }: ImportOptions,
): { readonly entries: readonly ImportedEntry[]; readonly problems: readonly Problem[] } {
  const path = resolve(file);
  const plugins = pluginsOf(path, dialect);
  if (plugins !== undefined) return importPlugins(plugins, path, { file, folder });
  const contents = readHooksFile({
    file: path,
    displayName: file,
    dialect,
    folder: resolve(folder),
    mustNotDrop: false,
    notesLeft: true,
    searchPath,
  });
  const faults = contents.faults.map((message) => errorIn(file, message));
  const notes = notesOf(contents.drafts).map(({ message, hint }) => ({
    ...errorIn(file, message),
    severity: 'note' as const,
    hint,
  }));
  return {
    entries: toEntries(contents.drafts, resolve(folder)),
    problems: sortProblems([...faults, ...contents.problems, ...notes]),
  };
}

function errorIn(file: string, message: string): Problem {
  return { file, line: 1, column: 1, severity: 'error', message };
}

interface PluginImport {
  readonly dialect: ForeignName;
  readonly folderKey: string;
}

/** Uses the named dialect, else the first one with plugins in the folder, unless the folder is a plugin itself. */
function pluginsOf(path: string, named: ForeignName | undefined): PluginImport | undefined {
  if (named === undefined && !isFolderOfPlugins(path)) return undefined;
  return (named === undefined ? foreignNames : [named]).flatMap((dialect) => {
    const { plugins } = foreignDialects[dialect];
    return plugins === undefined ? [] : [{ dialect, folderKey: plugins.folderKey }];
  })[0];
}

function isFolderOfPlugins(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  return ![...manifestNames, join('hooks', 'hooks.json')].some((mark) => existsWatched(join(path, mark)));
}

function importPlugins(
  { dialect, folderKey }: PluginImport,
  path: string,
  { file, folder }: { readonly file: string; readonly folder: string },
): ReturnType<typeof importHooks> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return { entries: [], problems: [errorIn(file, 'is not a folder')] };
  }
  const name = shortPath(path, resolve(folder));
  return {
    entries: [{ section: 'imports', name, value: { dialect, [folderKey]: name } }],
    problems: [],
  };
}

function toEntries(drafts: readonly HookDraft[], folder: string): ImportedEntry[] {
  const taken = new Set<string>();
  const duplicates = new Set<string>();
  return drafts.flatMap((draft): ImportedEntry[] => {
    const { duplicateKey: key } = draft;
    if (key !== undefined && duplicates.has(key)) return [];
    if (key !== undefined) duplicates.add(key);
    return [{ section: 'hooks', name: nameHook(draft, taken), value: draft.toEntry(folder) }];
  });
}

/**
 * Adds entries to the config's text and keeps its comments. Skips entries that exist already, under any name. Throws
 * CONFIG_INVALID if the text is not suitable YAML, or has another hook of that name.
 */
export function mergeEntries(text: string, entries: readonly ImportedEntry[]): string {
  const document = parseDocument(text, { merge: true });
  const [mistake] = document.errors;
  if (mistake !== undefined) throw new RuntimeError('CONFIG_INVALID', mistake.message);
  const form = {
    lineWidth: 0,
    indent: Math.max(2, /^( +)\S/m.exec(text)?.[1]?.length ?? 2),
    flowCollectionPadding: /\{ \S/.test(text),
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text),
  };
  const before = document.toString(form);
  const added = entries.filter((entry) => addEntry(document, entry));
  return added.length === 0 ? text : insertLines(text, before, document.toString(form));
}

/** Adds to the text the lines that `after` has more than `before`, so that its own spelling stays. */
function insertLines(text: string, before: string, after: string): string {
  const [old, was, now] = [text.split('\n'), before.split('\n'), after.split('\n')] as const;
  const start = now.findIndex((line, index) => line !== was[index]);
  const lines = now.splice(start, now.length - was.length);
  // The serializer removes repeated blank lines.
  const isFull = (line: string) => line.trim() !== '';
  const full = old.flatMap((line, index) => (isFull(line) ? [index] : []));
  if (full.length !== was.filter(isFull).length || now.join('\n') !== before) return after;
  const place = (full[was.slice(0, start).filter(isFull).length - 1] ?? -1) + 1;
  const whole = old.toSpliced(place, 0, ...lines).join('\n');
  const [wanted, written] = [after, whole].map((each) => parseDocument(each, { merge: true }));
  const isSame = written?.errors.length === 0 && isDeepStrictEqual(written.toJS(), wanted?.toJS());
  return isSame ? whole : after;
}

function addEntry(document: Document, { section, name, value }: ImportedEntry): boolean {
  if (!isMap(document.get('spec'))) document.set('spec', document.createNode({}));
  const path = ['spec', section];
  const existing = plainAt(document, path);
  const known = isObject(existing) ? Object.values(existing) : Array.isArray(existing) ? existing : [];
  if (known.some((each) => isDeepStrictEqual(each, value))) return false;
  if (section === 'imports' || section === 'mcp_servers') {
    if (!isSeq(document.getIn(path))) document.setIn(path, document.createNode([]));
    openBlock(document, path);
    document.addIn(path, createNode(document, value));
    return true;
  }
  if (!isMap(document.getIn(path))) document.setIn(path, document.createNode({}));
  openBlock(document, path);
  document.setIn(
    [...path, freeName(section, name, isObject(existing) ? existing : {})],
    createNode(document, value),
  );
  return true;
}

function createNode(document: Document, value: unknown) {
  return document.createNode(value, { aliasDuplicateObjects: false });
}

/** Switches the surrounding collections to block style, since a block inside braces is invalid YAML. */
function openBlock(document: Document, path: readonly string[]): void {
  for (let depth = 0; depth <= path.length; depth += 1) {
    const around = document.getIn(path.slice(0, depth));
    if (isCollection(around)) around.flow = false;
  }
}

function plainAt(document: Document, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document.toJS());
}

/** Increments a numbered name. Throws CONFIG_INVALID for any other name that is taken. */
function freeName(section: string, name: string, existing: Readonly<Record<string, unknown>>): string {
  if (!Object.hasOwn(existing, name)) return name;
  const stem = /^(.+)-\d+$/.exec(name)?.[1];
  if (stem !== undefined) return firstFreeName(stem, new Set(Object.keys(existing)));
  const hint = 'Rename one of the two.';
  const noun = section.slice(0, -1);
  throw new RuntimeError('CONFIG_INVALID', `spec.${section} already has another ${noun} ${name}`, { hint });
}

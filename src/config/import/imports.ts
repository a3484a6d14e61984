import { statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import {
  choiceAt,
  entriesAt,
  itemsAt,
  millisecondsAt,
  nonEmptyTextAt,
  textAt,
} from '../../base/yaml/read.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import type { HookDraft } from '../../dialects/foreign-files.ts';
import { foreignDialects, foreignNames, isForeign } from '../../dialects/registry.ts';
import { findUnfilledVariables } from '../../process/process-config.ts';
import type { ForeignContext } from '../build/foreign-entries.ts';
import type { ForeignHookConfig, ForeignName, ImportConfig } from '../config.ts';
import { locateFinding } from '../schema.ts';
import { type FileImport, nameHook, notesOf, readHooksFile } from './read-file.ts';

export interface ImportResult {
  readonly hooks: readonly ForeignHookConfig[];
  readonly imports: readonly ImportConfig[];
  readonly problems: readonly Problem[];
}

/** Reads all files of `spec.imports` in order; their hooks follow those of the config file. */
export function readImports(document: YamlDocument, input: ForeignContext): ImportResult {
  const ownNames = entriesAt(document, ['spec', 'hooks']).map(({ name }) => name);
  const state: ImportState = {
    document,
    surroundings: input,
    takenNames: new Set(ownNames),
    duplicates: new Map(),
    fileIndex: ownNames.length,
    hooks: [],
    imports: [],
    problems: [],
  };
  for (const path of itemsAt(document, ['spec', 'imports'])) {
    const dialect = choiceAt(document, [...path, 'dialect'], foreignNames);
    const folderKey = dialect && foreignDialects[dialect].plugins?.folderKey;
    if (dialect === undefined || folderKey === undefined) addFile(state, path, dialect);
    else addPlugins(state, dialect, [...path, folderKey]);
  }
  return state;
}

interface ImportState extends ImportResult {
  readonly document: YamlDocument;
  readonly surroundings: ForeignContext;
  readonly takenNames: Set<string>;
  readonly duplicates: Map<string, number>;
  fileIndex: number;
  readonly hooks: ForeignHookConfig[];
  readonly imports: ImportConfig[];
  readonly problems: Problem[];
}

function addFinding(state: ImportState, each: Finding): void {
  state.problems.push(locateFinding(state.document, each));
}

function addPlugins(state: ImportState, dialect: ForeignName, key: Path): void {
  const { document, surroundings } = state;
  const path = key.slice(0, -1);
  const named = nonEmptyTextAt(document, key);
  if (named === undefined) return;
  const pluginsDir = resolve(surroundings.folder, named);
  if (!statSync(pluginsDir, { throwIfNoEntry: false })?.isDirectory()) {
    addFinding(state, {
      severity: 'error',
      path: key,
      message: `${pluginsDir} is not a folder`,
      hint: folderHint,
    });
    return;
  }
  state.imports.push({
    dialect,
    fileIndex: state.fileIndex++,
    pluginsDir,
    env: envAt(document, path),
    ...omitUndefined({
      timeoutMs: millisecondsAt(document, [...path, 'timeout_ms']),
      onFailure: onFailureAt(state, path),
      sandbox: sandboxAt(document, path),
    }),
    position: document.positionOf(key),
  });
}

const folderHint = 'The path is relative to the config file’s folder.';

function envAt(document: YamlDocument, path: Path): string[] {
  return itemsAt(document, [...path, 'env']).flatMap((item) => textAt(document, item) ?? []);
}

function sandboxAt(document: YamlDocument, path: Path): string | undefined {
  return nonEmptyTextAt(document, [...path, 'sandbox']);
}

function onFailureAt({ document, surroundings }: ImportState, path: Path): 'deny' | undefined {
  return choiceAt(document, [...path, 'on_failure'], ['deny']) ?? surroundings.defaults.onFailure;
}

function addFile(state: ImportState, path: Path, dialect: ForeignName | undefined): void {
  const { document, surroundings } = state;
  const key = [...path, 'file'];
  const named = nonEmptyTextAt(document, key);
  if (named === undefined) return;
  const { folder, searchPath } = surroundings;
  const { drafts, problems, faults } = readHooksFile({
    file: resolve(folder, named),
    displayName: isAbsolute(named) ? named : join(dirname(document.file), named),
    dialect,
    folder,
    mustNotDrop: onFailureAt(state, path) === 'deny',
    searchPath,
    ...omitUndefined({ judge: judgeAt(state, path) }),
  });
  state.problems.push(...problems);
  for (const message of faults)
    addFinding(state, { severity: 'error', path: key, message, hint: folderHint });
  for (const note of notesOf(drafts)) addFinding(state, { severity: 'note', path: key, ...note });
  for (const draft of drafts) addDraft(state, path, draft);
}

/** The provider that judges prompts. Reports an error at the key if no such provider is declared. */
function judgeAt(state: ImportState, path: Path): FileImport['judge'] | undefined {
  const { document, surroundings } = state;
  const key = [...path, 'prompt_provider'];
  const provider = nonEmptyTextAt(document, key);
  if (provider === undefined) return undefined;
  const declared = itemsAt(document, ['spec', 'providers']).flatMap(
    (item) => textAt(document, [...item, 'id']) ?? [],
  );
  if (!declared.includes(provider)) {
    const message = `no provider "${provider}" is declared`;
    addFinding(state, { severity: 'error', path: key, message, ...suggest(provider, declared) });
  }
  const { folder, overlays } = surroundings;
  const file = resolve(folder, basename(document.file));
  return { provider, configFiles: [file, ...overlays.map((each) => resolve(each))] };
}

function addDraft(state: ImportState, path: Path, draft: HookDraft): void {
  const { document, surroundings, hooks, takenNames } = state;
  const env = envAt(document, path);
  for (const message of findUnfilledVariables(draft.neededEnv ?? [], env)) {
    state.problems.push({ ...draft.commandPosition, severity: 'warning', message });
  }
  const onFailure = draft.onFailure ?? onFailureAt(state, path);
  const sandbox = sandboxAt(document, path);
  if (mergeDuplicate(state, draft, { env, onFailure, sandbox })) return;
  if (draft.name !== undefined && takenNames.has(draft.name)) {
    const message = `its process ${draft.name} has the name of another hook`;
    const hint = 'Rename one of the two.';
    addFinding(state, { severity: 'error', path: [...path, 'file'], message, hint });
    return;
  }
  const { folder, stateFolder } = surroundings;
  const { exec, settings } = draft.toHook({ document, path, env, folder, stateFolder });
  const { dialect, timeoutMs, commandPosition: position, source } = draft;
  if (!isForeign(dialect)) return;
  const base = { command: '', args: [], runtime: 'exec', env, dialect, position } as const;
  hooks.push({
    dialect,
    name: nameHook(draft, takenNames),
    fileIndex: state.fileIndex++,
    source,
    ...omitUndefined({ onFailure }),
    ...(exec && { exec: { ...base, ...omitUndefined({ timeoutMs, sandbox }), ...exec } }),
    settings,
  });
}

interface GivenToImports {
  readonly env: readonly string[];
  readonly onFailure: 'deny' | undefined;
  readonly sandbox: string | undefined;
}

/** A hook that several files repeat runs once, with the options of all of them. */
function mergeDuplicate(
  { hooks, duplicates }: ImportState,
  { duplicateKey, dialect }: HookDraft,
  { env, ...given }: GivenToImports,
): boolean {
  if (duplicateKey === undefined) return false;
  const key = `${dialect} ${duplicateKey}`;
  const index = duplicates.get(key);
  const known = index === undefined ? undefined : hooks[index];
  if (index === undefined || known === undefined) {
    duplicates.set(key, hooks.length);
    return false;
  }
  const onFailure = known.onFailure ?? given.onFailure;
  const { exec = known.exec, settings } = foreignDialects[known.dialect].files?.addEnv?.(known, env) ?? known;
  hooks[index] = {
    ...known,
    ...omitUndefined({ onFailure }),
    ...(exec && {
      exec: { ...omitUndefined({ sandbox: given.sandbox }), ...exec, dialect: known.dialect },
    }),
    settings,
  };
  return true;
}

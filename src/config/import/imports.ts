import { statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { omitUndefined } from '../../yaml/present.ts';
import type { Problem } from '../../yaml/problem.ts';
import { choiceAt, entriesAt, itemsAt, millisecondsAt, nonEmptyTextAt, textAt } from '../../yaml/read.ts';
import type { DefaultsConfig, ForeignHookConfig, ImportConfig, StateStoreConfig } from '../config.ts';
import { readPicoclawWire } from '../foreign/picoclaw.ts';
import { findUnfilledVariables } from '../foreign/unfilled.ts';
import type { DialectChecks } from '../foreign-checks.ts';
import { type Finding, locateFinding } from '../report.ts';
import { duplicateKeyOf } from './claude-twins.ts';
import type { HookDraft } from './draft.ts';
import { nameHook } from './names.ts';
import { closedEnvironment } from './picoclaw.ts';
import { readHooksFile } from './read-file.ts';
import { toHook } from './to-hook.ts';

/** The hooks, plugin folders and problems of `spec.imports`. */
export interface ImportResult {
  readonly hooks: readonly ForeignHookConfig[];
  readonly imports: readonly ImportConfig[];
  readonly problems: readonly Problem[];
}

export interface ImportsInput {
  readonly folder: string;
  readonly searchPath: string;
  readonly store: StateStoreConfig;
  readonly defaults: DefaultsConfig;
  readonly checks: DialectChecks;
}

/** Reads every file that `spec.imports` names, in their order, behind the hooks of the file itself. */
export function readImports(document: YamlDocument, input: ImportsInput): ImportResult {
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
    if (choiceAt(document, [...path, 'dialect'], ['chibi']) === 'chibi') addPlugins(state, path);
    else addFile(state, path);
  }
  return state;
}

interface ImportState extends ImportResult {
  readonly document: YamlDocument;
  readonly surroundings: ImportsInput;
  readonly takenNames: Set<string>;
  /** The index in `hooks` of each handler that another file may repeat, by its key. */
  readonly duplicates: Map<string, number>;
  fileIndex: number;
  readonly hooks: ForeignHookConfig[];
  readonly imports: ImportConfig[];
  readonly problems: Problem[];
}

function addFinding(state: ImportState, each: Finding): void {
  state.problems.push(locateFinding(state.document, each));
}

function addPlugins(state: ImportState, path: Path): void {
  const { document, surroundings } = state;
  const key = [...path, 'plugins_dir'];
  const named = nonEmptyTextAt(document, key);
  if (named === undefined) return;
  const pluginsDir = resolve(surroundings.folder, named);
  if (!statSync(pluginsDir, { throwIfNoEntry: false })?.isDirectory()) {
    addFinding(state, {
      severity: 'error',
      path: key,
      message: `${pluginsDir} is no folder`,
      hint: folderHint,
    });
    return;
  }
  state.imports.push({
    dialect: 'chibi',
    fileIndex: state.fileIndex++,
    pluginsDir,
    env: envAt(document, path),
    ...omitUndefined({
      timeoutMs: millisecondsAt(document, [...path, 'timeout_ms']),
      onFailure: onFailureAt(state, path),
    }),
    position: document.positionOf(key),
  });
}

const folderHint = 'It starts at the config file’s folder.';

function envAt(document: YamlDocument, path: Path): string[] {
  return itemsAt(document, [...path, 'env']).flatMap((item) => textAt(document, item) ?? []);
}

function onFailureAt({ document, surroundings }: ImportState, path: Path): 'deny' | undefined {
  return choiceAt(document, [...path, 'on_failure'], ['deny']) ?? surroundings.defaults.onFailure;
}

function addFile(state: ImportState, path: Path): void {
  const { document, surroundings } = state;
  const key = [...path, 'file'];
  const named = nonEmptyTextAt(document, key);
  if (named === undefined) return;
  const { folder, searchPath, checks } = surroundings;
  const { drafts, problems, faults } = readHooksFile({
    file: resolve(folder, named),
    displayName: isAbsolute(named) ? named : join(dirname(document.file), named),
    dialect: choiceAt(document, [...path, 'dialect'], ['picoclaw', 'claude', 'agentao']),
    folder,
    mustNotDrop: onFailureAt(state, path) === 'deny',
    searchPath,
    checks,
  });
  state.problems.push(...problems);
  for (const message of faults)
    addFinding(state, { severity: 'error', path: key, message, hint: folderHint });
  if (drafts.some(({ dialect }) => dialect === 'picoclaw')) {
    addFinding(state, { severity: 'note', path: key, ...closedEnvironment });
  }
  for (const draft of drafts) addDraft(state, path, draft);
}

function addDraft(state: ImportState, path: Path, draft: HookDraft): void {
  const { document, surroundings, hooks, takenNames } = state;
  const env = envAt(document, path);
  if (draft.dialect === 'claude' && draft.run.type === 'http') {
    for (const message of findUnfilledVariables(draft.run.allowedEnvVars, env)) {
      state.problems.push({ ...draft.commandPosition, severity: 'warning', message });
    }
  }
  if (mergeDuplicate(state, draft, { env, onFailure: onFailureAt(state, path) })) return;
  if (draft.dialect === 'picoclaw' && takenNames.has(draft.name)) {
    const message = `its process ${draft.name} has the name of a hook that is already there`;
    addFinding(state, {
      severity: 'error',
      path: [...path, 'file'],
      message,
      hint: 'Rename one of the two.',
    });
    return;
  }
  const { folder, store } = surroundings;
  const context = {
    name: nameHook(draft, takenNames),
    fileIndex: state.fileIndex++,
    env,
    onFailure: onFailureAt(state, path),
    wire: readPicoclawWire(document, [...path, 'picoclaw']),
    folder,
    store,
  };
  hooks.push(toHook(draft, context));
}

/** A handler that several settings files repeat runs once, with what any of them gives it. */
function mergeDuplicate(
  { hooks, duplicates }: ImportState,
  draft: HookDraft,
  extra: { readonly env: readonly string[]; readonly onFailure: 'deny' | undefined },
): boolean {
  const key = draft.dialect === 'claude' ? duplicateKeyOf(draft) : undefined;
  if (key === undefined || draft.dialect !== 'claude') return false;
  const index = duplicates.get(key);
  const known = index === undefined ? undefined : hooks[index];
  if (index === undefined || known?.dialect !== 'claude') {
    duplicates.set(key, hooks.length);
    return false;
  }
  const onFailure = known.onFailure ?? draft.onFailure ?? extra.onFailure;
  const { exec, settings } = known;
  const join = (env: readonly string[]) => [...new Set([...env, ...extra.env])];
  hooks[index] = {
    ...known,
    ...omitUndefined({ onFailure }),
    ...(exec === undefined ? {} : { exec: { ...exec, env: join(exec.env) } }),
    settings:
      settings.http === undefined
        ? settings
        : { ...settings, http: { ...settings.http, env: join(settings.http.env) } },
  };
  return true;
}

import { statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { present } from '../../yaml/present.ts';
import type { Problem } from '../../yaml/problem.ts';
import { choiceAt, entriesAt, itemsAt, millisecondsAt, textAt, wordAt } from '../../yaml/read.ts';
import type { DefaultsConfig, ForeignHookConfig, ImportConfig, StateStoreConfig } from '../config.ts';
import { readPicoclawWire } from '../foreign/picoclaw.ts';
import { findUnfilled } from '../foreign/unfilled.ts';
import type { ForeignChecks } from '../foreign-checks.ts';
import { type Report, report } from '../report.ts';
import { twinKeyOf } from './claude-twins.ts';
import type { Draft } from './draft.ts';
import { nameHook } from './names.ts';
import { closedEnvironment } from './picoclaw.ts';
import { readHooksFile } from './read-file.ts';
import { toHook } from './to-hook.ts';

/** What `spec.imports` comes to. */
export interface Imported {
  readonly hooks: readonly ForeignHookConfig[];
  readonly imports: readonly ImportConfig[];
  readonly problems: readonly Problem[];
}

export interface ImportSurroundings {
  readonly folder: string;
  readonly searchPath: string;
  readonly store: StateStoreConfig;
  readonly defaults: DefaultsConfig;
  readonly checks: ForeignChecks;
}

/** Reads every file that `spec.imports` names, in their order, behind the hooks of the file itself. */
export function readImports(document: YamlDocument, surroundings: ImportSurroundings): Imported {
  const own = entriesAt(document, ['spec', 'hooks']).map(({ name }) => name);
  const state: State = {
    document,
    surroundings,
    taken: new Set(own),
    twins: new Map(),
    place: own.length,
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

interface State extends Imported {
  readonly document: YamlDocument;
  readonly surroundings: ImportSurroundings;
  readonly taken: Set<string>;
  /** Where a handler stands in `hooks` that another file may repeat. */
  readonly twins: Map<string, number>;
  place: number;
  readonly hooks: ForeignHookConfig[];
  readonly imports: ImportConfig[];
  readonly problems: Problem[];
}

function say(state: State, each: Report): void {
  state.problems.push(report(state.document, each));
}

function addPlugins(state: State, path: Path): void {
  const { document, surroundings } = state;
  const key = [...path, 'plugins_dir'];
  const named = wordAt(document, key);
  if (named === undefined) return;
  const pluginsDir = resolve(surroundings.folder, named);
  if (!statSync(pluginsDir, { throwIfNoEntry: false })?.isDirectory()) {
    say(state, { severity: 'error', path: key, message: `${pluginsDir} is no folder`, hint: folderHint });
    return;
  }
  state.imports.push({
    dialect: 'chibi',
    place: state.place++,
    pluginsDir,
    env: envAt(document, path),
    ...present({
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

function onFailureAt({ document, surroundings }: State, path: Path): 'deny' | undefined {
  return choiceAt(document, [...path, 'on_failure'], ['deny']) ?? surroundings.defaults.onFailure;
}

function addFile(state: State, path: Path): void {
  const { document, surroundings } = state;
  const key = [...path, 'file'];
  const named = wordAt(document, key);
  if (named === undefined) return;
  const { folder, searchPath, checks } = surroundings;
  const { drafts, problems, faults } = readHooksFile({
    file: resolve(folder, named),
    shown: isAbsolute(named) ? named : join(dirname(document.file), named),
    dialect: choiceAt(document, [...path, 'dialect'], ['picoclaw', 'claude', 'agentao']),
    folder,
    mustHold: onFailureAt(state, path) === 'deny',
    searchPath,
    checks,
  });
  state.problems.push(...problems);
  for (const message of faults) say(state, { severity: 'error', path: key, message, hint: folderHint });
  if (drafts.some(({ dialect }) => dialect === 'picoclaw')) {
    say(state, { severity: 'note', path: key, ...closedEnvironment });
  }
  for (const draft of drafts) addDraft(state, path, draft);
}

function addDraft(state: State, path: Path, draft: Draft): void {
  const { document, surroundings, hooks, taken } = state;
  const env = envAt(document, path);
  if (draft.dialect === 'claude' && draft.run.type === 'http') {
    for (const message of findUnfilled(draft.run.allowedEnvVars, env)) {
      state.problems.push({ ...draft.commandPosition, severity: 'warning', message });
    }
  }
  if (mergeTwin(state, draft, { env, onFailure: onFailureAt(state, path) })) return;
  if (draft.dialect === 'picoclaw' && taken.has(draft.name)) {
    const message = `its process ${draft.name} has the name of a hook that is already there`;
    say(state, { severity: 'error', path: [...path, 'file'], message, hint: 'Rename one of the two.' });
    return;
  }
  const { folder, store } = surroundings;
  const context = {
    name: nameHook(draft, taken),
    place: state.place++,
    env,
    onFailure: onFailureAt(state, path),
    wire: readPicoclawWire(document, [...path, 'picoclaw']),
    folder,
    store,
  };
  hooks.push(toHook(draft, context));
}

/** A handler that several settings files repeat runs once, with what any of them gives it. */
function mergeTwin(
  { hooks, twins }: State,
  draft: Draft,
  beside: { readonly env: readonly string[]; readonly onFailure: 'deny' | undefined },
): boolean {
  const key = draft.dialect === 'claude' ? twinKeyOf(draft) : undefined;
  if (key === undefined || draft.dialect !== 'claude') return false;
  const index = twins.get(key);
  const known = index === undefined ? undefined : hooks[index];
  if (index === undefined || known?.dialect !== 'claude') {
    twins.set(key, hooks.length);
    return false;
  }
  const onFailure = known.onFailure ?? draft.onFailure ?? beside.onFailure;
  const { exec, settings } = known;
  const join = (env: readonly string[]) => [...new Set([...env, ...beside.env])];
  hooks[index] = {
    ...known,
    ...present({ onFailure }),
    ...(exec === undefined ? {} : { exec: { ...exec, env: join(exec.env) } }),
    settings:
      settings.http === undefined
        ? settings
        : { ...settings, http: { ...settings.http, env: join(settings.http.env) } },
  };
  return true;
}
